import { expect, it } from 'vitest';
import { commitmentOfIntern, type Entry, renderEntry } from '../entry.ts';
import { COMPLETE } from '../policy.ts';
import { TlogError } from '../tlog-error.ts';
import { createKeyWatch, type KeyWatchOptions, readKeyLeaves } from './key-watch.ts';
import type { LogClient } from './log-client.ts';
import { rememberInMemory } from './remembered.ts';

const line = Buffer.alloc(32);
const keyOf = (fill: number) => Buffer.alloc(32, fill);
const own = (fill: number): Entry => ({
  kind: 'key',
  publicKey: keyOf(fill),
  intern: commitmentOfIntern('int_1'),
  line,
});
const ofAnother: Entry = {
  kind: 'key',
  publicKey: keyOf(9),
  intern: commitmentOfIntern('int_2'),
  line,
};
const ofProof: Entry = {
  kind: 'proof',
  v2: commitmentOfIntern('int_1'),
  v1: commitmentOfIntern('int_1'),
  line,
};

function openLog(...entries: Entry[]) {
  const log = {
    entries,
    origin: 'log.example/log',
    completeAt: 1000 as number | undefined,
    failure: undefined as Error | undefined,
    failsFrom: 0,
    bundles: [] as number[],
  };
  const client: LogClient = {
    async latest() {
      return {
        origin: log.origin,
        size: log.entries.length,
        root: line,
        note: '',
        witnessed: new Map(log.completeAt === undefined ? [] : [[COMPLETE, log.completeAt]]),
      };
    },
    lookup: () => expect.unreachable(),
    prove: () => expect.unreachable(),
    async bundle(index, { size }) {
      log.bundles.push(index);
      if (log.failure !== undefined && index >= log.failsFrom) throw log.failure;
      return log.entries.slice(index * 256, Math.min(size, (index + 1) * 256)).map(renderEntry);
    },
  };
  return { log, client };
}

function watchOf(client: LogClient, options: Partial<KeyWatchOptions> = {}) {
  const [found, problems]: [number[], string[]] = [[], []];
  let now = 1_000_000;
  const watch = createKeyWatch({
    client,
    internId: 'int_1',
    everyMs: 3_600_000,
    now: () => now,
    onKey: ({ index }) => void found.push(index),
    onProblem: ({ kind }) => void problems.push(kind),
    ...options,
  });
  return {
    found,
    problems,
    async check(secondsAfter = 0) {
      now = 1_000_000 + secondsAfter * 1000;
      await watch.check();
    },
  };
}

it('finds the leaves of the keys of one intern, from a leaf on, and reads no bundle without need', async () => {
  const { log, client } = openLog(own(1), ofAnother, ...Array(254).fill(ofProof), own(2), own(3));
  const find = async (from: number | undefined, size = 258) => {
    const found: [number, Uint8Array][] = [];
    for await (const { index, publicKey } of readKeyLeaves(client, { size, root: line }, 'int_1', from))
      found.push([index, Buffer.from(publicKey)]);
    return [found.map(([index]) => index), log.bundles.splice(0), found.at(-1)?.[1]];
  };
  expect(await find(undefined)).toEqual([[0, 256, 257], [0, 1], keyOf(3)]);
  expect(await find(1)).toEqual([[256, 257], [0, 1], keyOf(3)]);
  expect(await find(257)).toEqual([[257], [1], keyOf(3)]);
  expect(await find(0, 256)).toEqual([[0], [0], keyOf(1)]);
  expect(await find(258)).toEqual([[], [1], undefined]);
});

it('tells of each key once, but not of those that are known or of another intern', async () => {
  const { log, client } = openLog(own(1), ofAnother, own(2), own(2));
  const { check, found, problems } = watchOf(client, { known: [keyOf(1)] });
  await check();
  await check();
  expect(found).toEqual([2]);
  log.entries.push(own(2), own(1), own(3));
  await check();
  expect([found, problems]).toEqual([[2, 6], []]);
});

it('continues after a restart where it was, and saves only what is new', async () => {
  const { log, client } = openLog(...Array(256).fill(ofProof), own(1));
  const { load, save } = rememberInMemory();
  let saves = 0;
  const remembered = {
    load,
    save(text: string) {
      saves += 1;
      return save(text);
    },
  };
  const before = watchOf(client, { remembered });
  await before.check();
  await before.check();
  expect([before.found, saves]).toEqual([[256], 1]);
  const keys = [keyOf(1).toString('base64url')];
  expect(JSON.parse((await load()) ?? '')).toEqual({ origin: 'log.example/log', size: 257, keys });
  log.entries.push(own(1), own(2));
  log.bundles = [];
  const after = watchOf(client, { remembered });
  await after.check();
  expect([after.found, log.bundles, saves]).toEqual([[258], [1], 2]);
});

it('reads a log that replaced another from its first leaf, before a restart and after it', async () => {
  for (const restarts of [false, true]) {
    const { log, client } = openLog(ofProof, own(1), ofProof);
    const remembered = rememberInMemory();
    const before = watchOf(client, { remembered });
    await before.check();
    [log.origin, log.entries] = ['log.example/log-2', [own(1), own(2)]];
    const after = restarts ? watchOf(client, { remembered }) : before;
    before.found.length = 0;
    await after.check();
    expect([after.found, after.problems]).toEqual([[1], []]);
  }
});

it('trusts no tree that is smaller than what it has read', async () => {
  const { log, client } = openLog(ofProof, ofProof, ofProof);
  const remembered = rememberInMemory();
  await watchOf(client, { remembered }).check();
  const saved = await remembered.load();
  log.entries = [own(1), ofProof];
  const { check, found, problems } = watchOf(client, { remembered });
  await check();
  expect([found, problems, await remembered.load()]).toEqual([[], ['untrusted'], saved]);
});

it('reads again what could not be read, and tells of no key twice', async () => {
  const { log, client } = openLog(...Array(255).fill(ofProof), own(1), own(2));
  const remembered = rememberInMemory();
  const errors: unknown[] = [];
  const { check, found } = watchOf(client, {
    remembered,
    onProblem: (problem) => void errors.push(problem.kind === 'untrusted' ? problem.error : problem.kind),
  });
  log.failure = new TlogError('inclusion_invalid', 'not in the tree');
  await check();
  expect([errors, await remembered.load()]).toEqual([[log.failure], undefined]);
  log.failure = undefined;
  await check();
  expect(found).toEqual([255, 256]);
  expect(errors.slice(1)).toEqual(['recovered']);
});

it('goes on in the bundle that it could not read', async () => {
  const { log, client } = openLog(...Array(600).fill(ofProof), own(1));
  const { check, found } = watchOf(client);
  [log.failure, log.failsFrom] = [new TlogError('unavailable', 'no answer'), 1];
  await check();
  log.failsFrom = 2;
  await check();
  log.failure = undefined;
  await check();
  expect([log.bundles, found]).toEqual([[0, 1, 1, 2, 2], [600]]);
});

it('reports a log that is behind by more than the limit, and once that it no longer is', async () => {
  const { check, problems } = watchOf(openLog().client);
  for (const seconds of [0, 60]) await check(seconds);
  expect(problems).toEqual([]);
  for (const seconds of [61, 62]) await check(seconds);
  expect(problems).toEqual(['behind']);
  for (const seconds of [60, 0]) await check(seconds);
  expect(problems).toEqual(['behind', 'recovered']);
});

it('takes a log that does not answer for one that is behind, once that is longer than the limit', async () => {
  const { log, client } = openLog(ofProof);
  const { check, problems } = watchOf(client);
  await check();
  log.entries.push(own(1));
  log.failure = new TlogError('unavailable', 'no answer');
  for (const seconds of [5, 60]) await check(seconds);
  expect(problems).toEqual([]);
  await check(61);
  expect(problems).toEqual(['behind']);
  [log.failure, log.completeAt] = [undefined, 1061];
  await check(62);
  expect(problems).toEqual(['behind', 'recovered']);
});

it('reports a log that never answered, after the limit', async () => {
  const { log, client } = openLog(ofProof);
  log.failure = new TlogError('unavailable', 'no answer');
  const { check, problems } = watchOf(client);
  for (const seconds of [60, 61]) await check(seconds);
  expect(problems).toEqual(['behind']);
});

it('trusts no checkpoint that does not say how complete it is', async () => {
  const { log, client } = openLog();
  log.completeAt = undefined;
  const { check, problems } = watchOf(client);
  await check();
  expect(problems).toEqual(['untrusted']);
});

it('ignores what a listener throws', async () => {
  let told = 0;
  const { check, problems } = watchOf(openLog(own(1), own(2)).client, {
    onKey() {
      told += 1;
      throw new Error('from the listener');
    },
  });
  await check();
  expect([told, problems]).toEqual([2, []]);
});
