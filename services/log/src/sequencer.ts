import { setTimeout as pause } from 'node:timers/promises';
import { entryOfLine, type LineEntry, renderEntry } from '@ori/tlog/entry';
import type { Edge, MadeTile } from '@ori/tlog/tree';
import type { Appended } from './disk/journal.ts';
import type { LogFolder } from './disk/log-folder.ts';
import type { Source } from './follow/audit-files.ts';
import type { Position, Positions } from './follow/position.ts';
import { LogError } from './log-error.ts';
import type { Published, Publisher } from './publisher.ts';

/** How often idle sources are polled, in milliseconds. */
const LOOK_MS = 100;
/** Delay before a retry, in milliseconds. */
const RETRY_MS = 500;

/** Notifications for metrics and the log. */
export interface SequencerEvents {
  appended(lines: Readonly<Record<LineEntry['of'], number>>): void;
  published(checkpoint: Published, completeAt: number | undefined): void;
  /** A source cannot be read, or can be again. */
  source(path: string, error: unknown): void;
  /** Something failed and is tried again. */
  failed(error: unknown): void;
}

interface SequencerParts {
  readonly folder: LogFolder;
  readonly sources: ReadonlyMap<string, Source>;
  readonly publisher: Publisher;
  readonly v1KeyOf: (internId: string) => Uint8Array;
  readonly intervalMs: number;
  readonly events: SequencerEvents;
  /** Milliseconds since the epoch. */
  now(): number;
  /** From this size on the journal is compacted to the last signed tree and what follows it. */
  readonly journalBytesMax: number;
}

/** Appends the lines of all sources to one tree, in the order in which they are read. */
export function createSequencer(parts: SequencerParts) {
  const { folder, sources, publisher, v1KeyOf, intervalMs, events, now, journalBytesMax } = parts;
  const { tree, journal, tiles, lookup } = folder;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let positions: Positions = folder.positions;
  let unwritten: MadeTile[] = [];
  let completeAt: number | undefined;
  /** The last signed tree and the records since: what the journal can be compacted to. */
  let signed: { readonly edge: Edge; readonly positions: Positions } | undefined;
  let since: Appended[] = [];
  let shown: { readonly size: number; readonly completeAt: number | undefined } | undefined;
  let publishing: Promise<void> | undefined;
  let publishedAt = Number.NEGATIVE_INFINITY;
  let fatal: unknown;

  /** @returns whether there may be more at once */
  async function takeIn(): Promise<boolean> {
    const startedAt = now();
    let atEnd = true;
    const lines: Buffer[] = [];
    const read: Record<string, Position> = {};
    const taken: Source[] = [];
    for (const [path, source] of sources) {
      try {
        const peeked = await source.peek();
        events.source(path, undefined);
        atEnd &&= peeked.isAtEnd;
        if (peeked.lines.length === 0) continue;
        lines.push(...peeked.lines);
        taken.push(source);
        if (peeked.position) read[path] = peeked.position;
      } catch (error) {
        events.source(path, error);
        atEnd = false;
        // Its lines follow later; the other sources do not wait for it.
      }
    }
    if (lines.length > 0) await append(lines, read, taken);
    if (atEnd) completeAt = Math.floor(startedAt / 1000);
    return lines.length > 0 && !atEnd;
  }

  async function append(
    audited: readonly Buffer[],
    read: Positions,
    taken: readonly Source[],
  ): Promise<void> {
    const facts = audited.map((line) => entryOfLine(line, v1KeyOf));
    const appended = { entries: facts.map(renderEntry), positions: read };
    await journal.append(appended);
    for (const source of taken) source.take();
    positions = { ...positions, ...read };
    since.push(appended);
    for (const entry of appended.entries) {
      unwritten.push(...tree.append(entry));
      lookup.add(entry);
    }
    const lines = { proof: 0, key: 0, nothing: 0 };
    for (const { of } of facts) lines[of] += 1;
    events.appended(lines);
  }

  async function writeTiles(): Promise<void> {
    if (unwritten.length > 0) await tiles.write(unwritten);
    unwritten = [];
    await lookup.seal();
  }

  async function publish(): Promise<void> {
    const draft = { size: tree.size, root: tree.root(), partial: tree.partial(), completeAt };
    if (draft.size === shown?.size && completeAt === shown.completeAt) return;
    const here = { edge: tree.edge(), positions };
    const recorded = since.length;
    const published = await publisher.publish(draft);
    signed = here;
    since = since.slice(recorded);
    if (published === undefined) return;
    shown = { size: draft.size, completeAt: draft.completeAt };
    events.published(published, draft.completeAt);
  }

  async function round(): Promise<void> {
    const more = await takeIn();
    await writeTiles();
    if (fatal !== undefined) throw fatal;
    // The clock may be set back.
    if (publishing === undefined && Math.abs(now() - publishedAt) >= intervalMs) {
      publishedAt = now();
      publishing = publish()
        .catch((error) => {
          if (isFatal(error)) fatal = error;
          events.failed(error);
        })
        .finally(() => {
          publishing = undefined;
        });
    }
    if (signed !== undefined && journal.bytes > journalBytesMax) {
      await journal.restart(signed.edge, signed.positions, since);
    }
    if (!more) await wait(LOOK_MS);
  }

  async function wait(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  }

  return {
    /** Appends lines and publishes checkpoints until it is stopped. Rejects with an error that only a restart can clear. */
    run(): Promise<void> {
      running ??= (async () => {
        while (!stopping.signal.aborted) {
          try {
            await round();
          } catch (error) {
            events.failed(error);
            if (isFatal(error)) throw error;
            await wait(RETRY_MS);
          }
        }
      })();
      return running;
    },
    /** Resolves once the current round has ended. */
    async stop(): Promise<void> {
      stopping.abort();
      await running?.catch(() => undefined);
      await publishing;
    },
  };
}

export type Sequencer = ReturnType<typeof createSequencer>;

/** Errors that need a restart or a person. */
function isFatal(error: unknown): boolean {
  return error instanceof LogError && error.code !== 'disk';
}
