import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOfLine, renderEntry } from '@ori/tlog/entry';
import { createLogKeys } from '@ori/tlog/log-keys';
import { rootOf } from '@ori/tlog/merkle';
import { readEntries } from '@ori/tlog/tile';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openJournal } from './disk/journal.ts';
import { type LogFolder, openLogFolder } from './disk/log-folder.ts';
import type { Source } from './follow/audit-files.ts';
import type { Peeked } from './follow/position.ts';
import { LogError } from './log-error.ts';
import type { Publisher } from './publisher.ts';
import { createSequencer, type Sequencer, type SequencerEvents } from './sequencer.ts';

let place: string;
let folder: LogFolder;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ori-sequencer-'));
  folder = await openLogFolder({ folder: place, guardFolder: join(place, 'guard') });
});
afterEach(async () => {
  await folder.close();
  await rm(place, { recursive: true });
});

const { v1KeyOf } = createLogKeys('log.example/log', Buffer.alloc(32, 7).toString('base64'));
const line = (name: string) => Buffer.from(`{"name":"${name}"}`);
const entriesOf = (...names: string[]) => names.map((name) => renderEntry(entryOfLine(line(name), v1KeyOf)));
const position = (offset: number) => ({ file: 'f', offset, last: 'l', done: [] });

/** A source that has these peeks one after another, each until it is taken, then nothing. */
function sourceOf(peeks: (Partial<Peeked> | Error)[]): Source & { readonly left: () => number } {
  const left = [...peeks];
  return {
    async peek() {
      const [next = {}] = left;
      if (next instanceof Error) {
        left.shift();
        throw next;
      }
      return { lines: [], position: undefined, isAtEnd: true, ...next };
    },
    take: () => void left.shift(),
    close: async () => undefined,
    left: () => left.length,
  };
}

type Draft = Parameters<Publisher['publish']>[0];

interface Running {
  readonly sequencer: Sequencer;
  readonly drafts: Draft[];
  readonly appended: unknown[];
  readonly published: unknown[];
  readonly failures: unknown[];
  readonly reports: [path: string, error: unknown][];
}

/**
 * Runs a sequencer until `until` holds after one of its events, and stops it.
 *
 * @throws as the sequencer does
 */
async function run(
  sources: Record<string, Source>,
  until: (facts: Running) => boolean,
  parts: {
    append?: LogFolder['journal']['append'];
    publish?: (draft: Draft) => Promise<{ note: string; size: number } | undefined>;
    intervalMs?: number;
    journalBytesMax?: number;
    now?: () => number;
    write?: LogFolder['tiles']['write'];
  } = {},
): Promise<Running> {
  const { publish = async ({ size }) => ({ note: `of ${size}`, size }) } = parts;
  const journal = Object.create(folder.journal, {
    append: { value: parts.append ?? folder.journal.append },
  });
  const tiles = { ...folder.tiles, write: parts.write ?? folder.tiles.write };
  /** Notes an event, and looks whether it is enough. */
  const note = <T>(events: T[], event: T) => {
    events.push(event);
    if (until(facts)) void sequencer.stop();
  };
  const events: SequencerEvents = {
    appended: (lines) => note<unknown>(facts.appended, lines),
    published: (...checkpoint) => note<unknown>(facts.published, checkpoint),
    source: (...report) => note(facts.reports, report),
    failed: (error) => note(facts.failures, error),
  };
  const sequencer = createSequencer({
    folder: { ...folder, tree: folder.tree, journal, tiles },
    sources: new Map(Object.entries(sources)),
    publisher: {
      publish(draft) {
        facts.drafts.push(draft);
        return publish(draft);
      },
      confirm: async () => undefined,
    },
    v1KeyOf,
    events,
    intervalMs: parts.intervalMs ?? 0,
    journalBytesMax: parts.journalBytesMax ?? Number.POSITIVE_INFINITY,
    now: parts.now ?? Date.now,
  });
  const facts: Running = { sequencer, drafts: [], appended: [], published: [], failures: [], reports: [] };
  try {
    await sequencer.run();
  } finally {
    await sequencer.stop();
  }
  return facts;
}

const isPublished = (size: number) => (facts: Running) =>
  facts.published.some((one) => (one as [{ size: number }])[0].size === size);

/** What a restart has: the tree, the entries in its order, and the positions. */
async function reopened() {
  await folder.close();
  folder = await openLogFolder({ folder: place, guardFolder: join(place, 'guard') });
  const entries = await Promise.all(
    Array.from({ length: folder.tree.size }, (_, index) => folder.entryAt(index)),
  );
  return { entries: entries.map((one) => Buffer.from(one ?? [])), positions: folder.positions };
}

it('appends the lines of every source in their order, durably and with their positions', async () => {
  const sources = {
    a: sourceOf([
      { lines: [line('a1'), line('a2')], position: position(2) },
      { lines: [line('a3')], position: position(3) },
    ]),
    b: sourceOf([{ lines: [line('b1')] }]),
    idle: sourceOf([]),
  };
  const { appended, published } = await run(sources, isPublished(4));
  expect([sources.a.left(), sources.b.left()]).toEqual([0, 0]);
  const names = ['a1', 'a2', 'b1', 'a3'];
  expect(await reopened()).toEqual({
    entries: entriesOf(...names).map((one) => Buffer.from(one)),
    positions: { a: position(3) },
  });
  expect(appended).toEqual([
    { proof: 0, key: 0, nothing: 3 },
    { proof: 0, key: 0, nothing: 1 },
  ]);
  expect(published.at(-1)).toEqual([{ note: 'of 4', size: 4 }, expect.any(Number)]);
});

it('has full tiles on the disk, and finds its entries', async () => {
  const proof = (at: number) =>
    Buffer.from(
      JSON.stringify({
        event: 'proof_issued',
        internId: 'int_1',
        timestamp: 1_700_000_000,
        subject: 'ada',
        bodySha256: at.toString(16).padStart(64, '0'),
      }),
    );
  const lines = Array.from({ length: 300 }, (_, at) => proof(at));
  const { appended } = await run({ a: sourceOf([{ lines }]) }, isPublished(300));
  expect(appended).toEqual([{ proof: 300, key: 0, nothing: 0 }]);
  await folder.tiles.write(folder.tree.partial());
  const root = rootOf(300, folder.tiles.subtrees(300));
  expect(Buffer.from(root)).toEqual(Buffer.from(folder.tree.root()));
  const { v1 } = entryOfLine(proof(7), v1KeyOf) as { v1: Uint8Array };
  expect(await folder.lookup.find(v1)).toMatchObject({ index: 7 });
});

it('publishes a tree again only when it is complete up to a later second, or larger', async () => {
  let seconds = 1000;
  let asked = 0;
  const now = () => (asked++ % 6 === 5 ? ++seconds : seconds) * 1000 + 999;
  const { drafts } = await run({ a: sourceOf([]) }, ({ published }) => published.length === 3, { now });
  expect(drafts.map(({ size, completeAt }) => [size, completeAt])).toEqual([
    [0, 1000],
    [0, 1001],
    [0, 1002],
  ]);
});

it('claims completeness only for a time at which every source was read to its end', async () => {
  const more = { lines: [line('a')], isAtEnd: false };
  const behind = sourceOf([more, new Error('EIO'), { lines: [line('b')] }]);
  let at = 10_000;
  const { drafts, reports } = await run({ behind, other: sourceOf([]) }, isPublished(2), {
    now: () => (at += 1000),
    publish: async (draft) => (draft.completeAt === undefined ? undefined : { note: '', size: draft.size }),
  });
  expect(drafts.filter(({ size }) => size < 2).map(({ completeAt }) => completeAt)).not.toContainEqual(
    expect.any(Number),
  );
  expect(drafts.at(-1)?.completeAt).toBeLessThan(at / 1000);
  expect(reports.filter(([, error]) => error !== undefined)).toEqual([['behind', new Error('EIO')]]);
  expect(reports.at(-1)).toEqual(['other', undefined]);
});

it('appends the lines of one source while another cannot be read', async () => {
  const broken: Source = { ...sourceOf([]), peek: () => Promise.reject(new Error('EACCES')) };
  const { published, reports } = await run({ broken, a: sourceOf([{ lines: [line('a')] }]) }, isPublished(1));
  expect(published).toEqual([[{ note: 'of 1', size: 1 }, undefined]]);
  expect(reports).toContainEqual(['broken', new Error('EACCES')]);
});

it('takes no line before it is durable, and takes it once', async () => {
  const source = sourceOf([{ lines: [line('a')] }, { lines: [line('b')] }]);
  let attempts = 0;
  const { failures } = await run({ source }, isPublished(2), {
    async append(appended) {
      attempts += 1;
      if (attempts === 1) {
        expect([source.left(), folder.tree.size]).toEqual([2, 0]);
        throw new LogError('disk', 'it is full');
      }
      await folder.journal.append(appended);
    },
  });
  expect(failures).toMatchObject([{ code: 'disk' }]);
  expect((await reopened()).entries).toEqual(entriesOf('a', 'b').map((one) => Buffer.from(one)));
});

it('writes tiles again that it could not write', async () => {
  const lines = Array.from({ length: 256 }, (_, at) => line(String(at)));
  let attempts = 0;
  await run({ a: sourceOf([{ lines }]) }, isPublished(256), {
    async write(tiles) {
      attempts += 1;
      if (attempts === 1) throw new Error('ENOSPC');
      await folder.tiles.write(tiles);
    },
  });
  expect(attempts).toBe(2);
  const bundle = await folder.tiles.read({ level: 'entries', index: 0, width: 256 });
  expect(readEntries(bundle ?? Buffer.alloc(0))).toHaveLength(256);
});

it.each(['disk_doubtful', 'witness_is_ahead', 'tree_rolled_back'] as const)(
  'stops for good on %s, in the journal as in publishing',
  async (code) => {
    const fails = () => Promise.reject(new LogError(code, 'it failed'));
    const never = () => false;
    const source = { source: sourceOf([{ lines: [line('a')] }]) };
    await expect(run(source, never, { append: fails })).rejects.toMatchObject({ code });
    await expect(run({}, never, { publish: fails })).rejects.toMatchObject({ code });
  },
);

it.each<[string, () => Error]>([
  ['a full disk', () => new LogError('disk', 'it is full')],
  ['an error of the system', () => new Error('EIO')],
])('publishes again after %s', async (_what, error) => {
  let attempts = 0;
  const { failures } = await run({}, isPublished(0), {
    async publish({ size }) {
      attempts += 1;
      if (attempts === 1) throw error();
      return { note: '', size };
    },
  });
  expect(failures).toEqual([error()]);
});

it('asks again for a tree that too few witnesses have cosigned', async () => {
  let attempts = 0;
  const { published, drafts } = await run({}, isPublished(0), {
    now: () => 5000,
    async publish({ size }) {
      attempts += 1;
      return attempts < 3 ? undefined : { note: '', size };
    },
    intervalMs: 0,
  });
  expect([published.length, drafts.length]).toEqual([1, 3]);
});

it('publishes one tree at a time, and takes lines in meanwhile', async () => {
  const release = Promise.withResolvers<void>();
  const source = sourceOf(['a', 'b', 'c'].map((name) => ({ lines: [line(name)], isAtEnd: false })));
  let [now, most] = [0, 0];
  const { drafts } = await run(
    { source },
    ({ appended, published }) => {
      if (appended.length === 3) release.resolve();
      return published.length > 0;
    },
    {
      async publish({ size }) {
        most = Math.max(most, ++now);
        await release.promise;
        now -= 1;
        return { note: '', size };
      },
    },
  );
  expect([most, drafts[0]?.size]).toEqual([1, 1]);
});

it.each([
  [999, 1],
  [1000, 2],
  [-3_600_000, 2],
])('publishes again when the clock is %i ms further, or set back: %i times', async (afterMs, times) => {
  let rounds = 0;
  let at = 50_000;
  const peek = async (): Promise<Peeked> => {
    rounds += 1;
    if (rounds === 2) at += afterMs;
    return { lines: rounds <= 3 ? [line(String(rounds))] : [], position: undefined, isAtEnd: rounds > 3 };
  };
  const source = { ...sourceOf([]), peek };
  const { drafts } = await run({ source }, () => rounds >= 4, { now: () => at, intervalMs: 1000 });
  expect(drafts).toHaveLength(times);
});

/** Holds two rounds after a tree was published. */
function isSettled(): (facts: Running) => boolean {
  let rounds = 0;
  return ({ published }) => published.length > 0 && ++rounds > 3;
}

it.each([
  ['above its limit', -1, true],
  ['at its limit', 0, false],
])('compacts its journal %s: %i, %s', async (_what, aboveBytes, isCompacted) => {
  const lines = Array.from({ length: 300 }, (_, at) => line(String(at)));
  await run({ a: sourceOf([{ lines, position: position(300) }]) }, isPublished(300));
  await reopened();
  const { bytes } = folder.journal;
  await run({ a: sourceOf([]) }, isSettled(), { journalBytesMax: bytes + aboveBytes });
  expect((await stat(join(place, 'journal'))).size < bytes).toBe(isCompacted);
  await reopened();
  expect([folder.tree.size, folder.positions]).toEqual([300, { a: position(300) }]);
});

it('compacts its journal to the tree that was published, and the records since', async () => {
  const both = Promise.withResolvers<void>();
  const source = sourceOf(
    ['a', 'b'].map((name, at) => ({ lines: [line(name)], position: position(at), isAtEnd: false })),
  );
  const settled = isSettled();
  const { failures } = await run(
    { source },
    (facts) => {
      if (facts.appended.length === 2) both.resolve();
      return settled(facts);
    },
    {
      journalBytesMax: 1,
      intervalMs: 1e12,
      async publish({ size }) {
        await both.promise;
        return { note: '', size };
      },
    },
  );
  expect(failures).toEqual([]);
  const { edge, positions, records, journal } = await openJournal(join(place, 'journal'));
  await journal.close();
  expect([edge.size, positions, records.length]).toEqual([1, { source: position(0) }, 1]);
  expect(await reopened()).toEqual({
    entries: entriesOf('a', 'b').map((one) => Buffer.from(one)),
    positions: { source: position(1) },
  });
});

const idle = () => ({
  folder,
  sources: new Map(),
  v1KeyOf,
  intervalMs: 0,
  journalBytesMax: 1e9,
  now: Date.now,
  publisher: { publish: async () => undefined, confirm: async () => undefined },
  events: {
    appended: () => undefined,
    published: () => undefined,
    source: () => undefined,
    failed: () => undefined,
  },
});

it('can be stopped before it runs', async () => {
  const sequencer = createSequencer(idle());
  await sequencer.stop();
  await sequencer.run();
});

it('stops once what it has begun has ended, also while it waits', async () => {
  const release = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let ended = false;
  const sequencer = createSequencer({
    ...idle(),
    publisher: {
      async publish() {
        begun.resolve();
        await release.promise;
        ended = true;
        return undefined;
      },
      confirm: async () => undefined,
    },
  });
  const running = sequencer.run();
  expect(sequencer.run()).toBe(running);
  await begun.promise;
  const stopped = sequencer.stop();
  await running;
  expect(ended).toBe(false);
  release.resolve();
  await stopped;
  expect(ended).toBe(true);
});
