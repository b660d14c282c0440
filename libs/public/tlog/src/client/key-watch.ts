import { commitmentOfIntern, parseEntry } from '../entry.ts';
import { isSameHash, type TreeHead } from '../merkle.ts';
import { COMPLETE } from '../policy.ts';
import { TILE_WIDTH } from '../tile.ts';
import { TlogError } from '../tlog-error.ts';
import { type Checks, startChecks } from './checks.ts';
import type { LogClient } from './log-client.ts';
import { createProblemReport, quietly } from './problem-report.ts';
import type { Remembered } from './remembered.ts';

/** A leaf of a key of an intern. */
export interface KeyLeaf {
  readonly index: number;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/**
 * The leaves of an intern's published keys, from leaf `from` on. Reads every entry of the tree after it, so that a log cannot
 * leave one out.
 *
 * @param readTo called after each bundle with how many leaves were read
 * @throws TlogError as `LogClient.bundle`
 */
export async function* readKeyLeaves(
  client: LogClient,
  head: TreeHead,
  internId: string,
  from = 0,
  readTo: (size: number) => void = () => undefined,
): AsyncGenerator<KeyLeaf> {
  const intern = commitmentOfIntern(internId);
  for (let bundle = Math.floor(from / TILE_WIDTH); bundle * TILE_WIDTH < head.size; bundle++) {
    for (const [at, bytes] of (await client.bundle(bundle, head)).entries()) {
      const index = bundle * TILE_WIDTH + at;
      const entry = parseEntry(bytes);
      if (index >= from && entry.kind === 'key' && isSameHash(entry.intern, intern))
        yield { index, publicKey: entry.publicKey };
    }
    readTo(Math.min(head.size, (bundle + 1) * TILE_WIDTH));
  }
}

export interface KeyWatchOptions {
  readonly client: LogClient;
  readonly internId: string;
  /** The keys that are expected, 32 bytes each. */
  readonly known?: readonly Uint8Array[];
  /** Called for each other key that signers have published for the intern, again only if the process ends in that check. */
  readonly onKey: (leaf: KeyLeaf) => void;
  readonly onProblem: (problem: KeyWatchProblem) => void;
  /** Stores how far the log was read, and the keys found, so that a restart does not begin anew. */
  readonly remembered?: Remembered;
  /** How long the log may be behind, in seconds; 60 by default. */
  readonly limitSeconds?: number;
  /** How often the log is asked, in milliseconds; 5000 by default. */
  readonly everyMs?: number;
  /** Unix time in milliseconds; `Date.now` by default. */
  readonly now?: () => number;
}

export type KeyWatchProblem =
  /** No check ended within the limit that read a log complete up to then: keys may have been published that were not read. */
  | { readonly kind: 'behind' }
  /** What the log serves cannot be trusted, or what was remembered of it cannot be loaded or saved. */
  | { readonly kind: 'untrusted'; readonly error: unknown }
  /** The problem that was reported last is over. */
  | { readonly kind: 'recovered' };

interface Seen {
  /** The log that they are of. */
  readonly origin: string | undefined;
  /** Leaves that were read. */
  size: number;
  /** In base64url. */
  readonly keys: Set<string>;
}

/** Reports each key that is published for an intern, on a timer that does not keep the process alive. */
export function createKeyWatch(options: KeyWatchOptions): Checks {
  const { client, internId, onKey, remembered, limitSeconds = 60, everyMs = 5000, now = Date.now } = options;
  const seconds = () => now() / 1000;
  const { report, recover } = createProblemReport<KeyWatchProblem>({ ...options, limitSeconds, seconds });
  let seen: Seen | undefined;
  let saved: string | undefined;
  /** Up to when the log was complete at the last check that read all of it. */
  let completeAt = seconds();

  /** Reports that the log is behind, if it is. */
  function reportBehind(): boolean {
    const isBehind = seconds() - completeAt > limitSeconds;
    if (isBehind) report({ kind: 'behind' });
    return isBehind;
  }

  async function load(): Promise<Seen> {
    const text = await remembered?.load();
    saved = text;
    const former: { origin?: string; size: number; keys: string[] } =
      text === undefined ? { size: 0, keys: [] } : JSON.parse(text);
    const known = (options.known ?? []).map((key) => Buffer.from(key).toString('base64url'));
    return { origin: former.origin, size: former.size, keys: new Set([...former.keys, ...known]) };
  }

  async function read(): Promise<void> {
    const head = await client.latest();
    seen ??= await load();
    if (seen.origin !== head.origin) seen = { origin: head.origin, size: 0, keys: seen.keys };
    if (head.size < seen.size) {
      throw new TlogError('rolled_back', `the tree shrank from ${seen.size} to ${head.size} leaves`);
    }
    const reading = seen;
    const readTo = (size: number) => {
      reading.size = size;
    };
    for await (const leaf of readKeyLeaves(client, head, internId, seen.size, readTo)) {
      const key = Buffer.from(leaf.publicKey).toString('base64url');
      if (seen.keys.has(key)) continue;
      seen.keys.add(key);
      quietly(() => onKey(leaf));
    }
    const text = JSON.stringify({ ...seen, keys: [...seen.keys] });
    if (text !== saved) await remembered?.save(text);
    saved = text;
    const latest = head.witnessed.get(COMPLETE);
    if (latest === undefined) {
      throw new TlogError('quorum_missing', 'the checkpoint does not say how complete it is');
    }
    completeAt = latest;
    if (!reportBehind()) recover();
  }

  return startChecks(everyMs, {
    once: read,
    failed(error) {
      if (error instanceof TlogError && error.code === 'unavailable') reportBehind();
      else report({ kind: 'untrusted', error });
    },
    lasts: reportBehind,
  });
}
