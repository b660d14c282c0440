import { createHmac } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import { renderEntry } from '../entry.ts';
import { COMPLETE } from '../policy.ts';
import { TlogError } from '../tlog-error.ts';
import type { ClaimedLeaf, LogClient } from './log-client.ts';
import { createMonitor, type MonitorOptions, type MonitorProblem } from './monitor.ts';
import { rememberInMemory } from './remembered.ts';

/** A monitor of a log without leaves that claims to be complete up to a given time. */
function openMonitor() {
  let completeAt = 0;
  const missing: string[] = [];
  const head = () => ({
    origin: 'log.example/log',
    size: 0,
    root: new Uint8Array(32),
    note: '',
    witnessed: new Map([[COMPLETE, completeAt]]),
  });
  const client: LogClient = {
    latest: async () => head(),
    lookup: async () => new Map(),
    prove: async () => [],
    bundle: async () => [],
  };
  const monitor = createMonitor<{ version: 2; id: string }>({
    client,
    onMissing: ({ id }) => void missing.push(id),
    onProblem: () => undefined,
    now: () => 1_000_000,
    clockToleranceSeconds: 5,
    everyMs: 3_600_000,
  });
  monitor.accepted({ version: 2, id: 'one' }, '00'.repeat(32));
  return {
    missing,
    /** Checks under a checkpoint that is complete up to so many seconds after the proof was accepted. */
    async check(secondsAfter: number): Promise<void> {
      completeAt = 1000 + secondsAfter;
      await monitor.check();
    },
  };
}

it('reports no proof that was accepted after the time up to which the log is complete, clocks allowed for', async () => {
  const { check, missing } = openMonitor();
  for (const seconds of [-60, 0, 4, 5]) await check(seconds);
  expect(missing).toEqual([]);
});

it('reports a missing proof at the second checkpoint that is complete without it, once', async () => {
  const { check, missing } = openMonitor();
  await check(5);
  await check(6);
  await check(6);
  expect(missing).toEqual([]);
  await check(7);
  await check(8);
  expect(missing).toEqual(['one']);
});

it('judges each proof alone, repeats a lasting problem, and says once that it is over', async () => {
  const commitments = ['11', '22'].map((byte) => byte.repeat(32));
  let completeAt = 0;
  let nowMs = 1_000_000;
  let isFaulty = true;
  const [missing, problems]: [string[], string[]] = [[], []];
  const entry = Buffer.concat([Uint8Array.of(1), Buffer.from(commitments[0] ?? '', 'hex'), Buffer.alloc(64)]);
  const client: LogClient = {
    latest: async () => ({
      origin: 'log.example/log',
      size: 9,
      root: new Uint8Array(32),
      note: '',
      witnessed: new Map([[COMPLETE, completeAt]]),
    }),
    lookup: async () => new Map([[commitments[0] ?? '', { index: 0, entry }]]),
    async prove() {
      if (isFaulty) throw new TlogError('inclusion_invalid', 'one flipped bit');
      return [];
    },
    bundle: async () => [],
  };
  const monitor = createMonitor<{ version: 2; id: string }>({
    client,
    onMissing: ({ id }) => void missing.push(id),
    onProblem: ({ kind }) => void problems.push(kind),
    now: () => nowMs,
    everyMs: 3_600_000,
  });
  monitor.accepted({ version: 2, id: 'logged' }, commitments[0] ?? '');
  monitor.accepted({ version: 2, id: 'stolen' }, commitments[1] ?? '');
  for (const seconds of [10, 20]) {
    completeAt = 1000 + seconds;
    await monitor.check();
  }
  expect(missing).toEqual(['stolen']);
  expect(problems).toEqual(['untrusted']);
  nowMs += 61_000;
  await monitor.check();
  expect(problems).toEqual(['untrusted', 'untrusted']);
  isFaulty = false;
  await monitor.check();
  await monitor.check();
  expect(problems).toEqual(['untrusted', 'untrusted', 'recovered']);
  await monitor.stop();
});

afterEach(() => void vi.useRealTimers());

interface Proof {
  readonly version: 1 | 2;
  readonly id: string;
}

const ONE = '11'.repeat(32);
const TWO = '22'.repeat(32);
const entryOf = (commitment: string) =>
  renderEntry({
    kind: 'proof',
    v2: Buffer.from(commitment, 'hex'),
    v1: new Uint8Array(32),
    line: new Uint8Array(32),
  });

/** A log whose answers a test sets, and a monitor of it. */
function openWorld(options: Partial<MonitorOptions<Proof>> = {}) {
  const world = {
    completeAt: 1000 as number | undefined,
    now: 1000,
    size: 9,
    leaves: {} as Record<string, ClaimedLeaf>,
    failure: undefined as Error | undefined,
    heads: 0,
    lookups: [] as string[][],
    proven: [] as number[],
    missing: [] as string[],
    problems: [] as MonitorProblem[],
  };
  const client: LogClient = {
    async latest() {
      world.heads += 1;
      if (world.failure !== undefined) throw world.failure;
      return {
        origin: 'log.example/log',
        size: world.size,
        root: new Uint8Array(32),
        note: '',
        witnessed: new Map(world.completeAt === undefined ? [] : [[COMPLETE, world.completeAt]]),
      };
    },
    async lookup(commitments) {
      world.lookups.push(commitments.map((one) => Buffer.from(one).toString('hex')));
      return new Map(Object.entries(world.leaves));
    },
    async prove({ index }) {
      world.proven.push(index);
      return [];
    },
    bundle: () => expect.unreachable(),
  };
  const monitor = createMonitor<Proof>({
    client,
    everyMs: 3_600_000,
    now: () => world.now * 1000,
    onMissing: ({ id }) => void world.missing.push(id),
    onProblem: (problem) => void world.problems.push(problem),
    ...options,
  });
  return Object.assign(world, {
    monitor,
    kinds: () => world.problems.map(({ kind }) => kind),
    accept: (commitment: string, id = commitment.slice(0, 2), version: 1 | 2 = 2) =>
      monitor.accepted({ version, id }, commitment),
    async check(at: number) {
      [world.now, world.completeAt] = [at, at];
      await monitor.check();
    },
  });
}

it('asks the log for the proofs that are due, and for nothing if none is', async () => {
  const world = openWorld();
  world.accept(ONE);
  await world.check(1005);
  expect(world.lookups).toEqual([]);
  world.accept(TWO);
  await world.check(1006);
  expect(world.lookups).toEqual([[ONE]]);
});

it('is content with a proof that the log proves to have, and asks no more for it', async () => {
  const world = openWorld();
  world.leaves = { [ONE]: { index: 3, entry: entryOf(ONE) } };
  world.accept(ONE);
  for (const at of [1010, 1020, 1030]) await world.check(at);
  expect([world.proven, world.lookups.length, world.missing, world.problems]).toEqual([[3], 1, [], []]);
});

it('reports no proof that was missing once and is there then', async () => {
  const world = openWorld();
  world.accept(ONE);
  await world.check(1010);
  world.leaves = { [ONE]: { index: 3, entry: entryOf(ONE) } };
  for (const at of [1020, 1030]) await world.check(at);
  expect([world.proven, world.missing]).toEqual([[3], []]);
});

it('waits for a leaf that the tree is too small for', async () => {
  const world = openWorld();
  world.leaves = { [ONE]: { index: 9, entry: entryOf(ONE) } };
  world.accept(ONE);
  for (const at of [1010, 1020]) await world.check(at);
  expect([world.proven, world.missing]).toEqual([[], []]);
  world.size = 10;
  await world.check(1030);
  expect(world.proven).toEqual([9]);
});

it.each([
  ['another proof', entryOf(TWO)],
  ['nothing', Buffer.alloc(5)],
])('takes the leaf of %s for none', async (_what, entry) => {
  const world = openWorld();
  world.leaves = { [ONE]: { index: 3, entry } };
  world.accept(ONE);
  for (const at of [1010, 1020]) await world.check(at);
  expect([world.proven, world.missing]).toEqual([[], ['11']]);
});

it('asks for version 1 under the key of the intern, and says that it cannot without one', async () => {
  const v1Key = Buffer.alloc(32, 7);
  const world = openWorld({ v1Key });
  world.accept(ONE, 'v1', 1);
  await world.check(1010);
  expect(world.lookups).toEqual([[createHmac('sha256', v1Key).update(ONE, 'hex').digest('hex')]]);
  const without = openWorld();
  without.accept(ONE, 'v1', 1);
  expect(without.kinds()).toEqual(['unchecked']);
  await without.check(1010);
  without.accept(TWO, 'v1', 1);
  await without.check(1011);
  expect([without.lookups, without.kinds()]).toEqual([[], ['unchecked']]);
});

it('says that a proof is one too many to wait, and checks the others', async () => {
  const world = openWorld({ pendingMax: 2 });
  world.accept(ONE);
  world.accept(TWO);
  expect(world.kinds()).toEqual([]);
  world.accept('33'.repeat(32));
  expect(world.kinds()).toEqual(['overflow']);
  await world.check(1010);
  expect(world.lookups).toEqual([[ONE, TWO]]);
});

it('says that the log is behind when a proof has waited longer than the limit, and when it no longer is', async () => {
  const world = openWorld();
  world.failure = new TlogError('unavailable', 'no answer');
  await world.check(5000);
  world.accept(ONE);
  for (const at of [5060, 5061]) await world.check(at);
  expect(world.problems).toEqual([{ kind: 'behind', seconds: 61 }]);
  world.failure = undefined;
  world.leaves = { [ONE]: { index: 3, entry: entryOf(ONE) } };
  await world.check(5062);
  expect(world.kinds()).toEqual(['behind', 'recovered']);
});

it('does not take a log for sound again that does not answer', async () => {
  const world = openWorld();
  world.failure = new TlogError('inconsistent', 'two trees');
  await world.check(1000);
  world.failure = new TlogError('unavailable', 'no answer');
  await world.check(1001);
  expect(world.kinds()).toEqual(['untrusted']);
});

it('trusts no checkpoint that does not say how complete it is', async () => {
  const world = openWorld();
  world.completeAt = undefined;
  await world.monitor.check();
  expect(world.problems).toMatchObject([{ kind: 'untrusted', error: { code: 'quorum_missing' } }]);
});

it('reports a check that fails for another reason, with the reason', async () => {
  const world = openWorld();
  world.failure = new RangeError('a bug');
  await world.check(1000);
  const error = { code: 'malformed', cause: world.failure };
  expect(world.problems).toMatchObject([{ kind: 'untrusted', error }]);
});

it('ignores what listeners throw', async () => {
  let told = 0;
  const fail = () => {
    told += 1;
    throw new Error('from the listener');
  };
  const load = async () => '[{';
  const world = openWorld({ onMissing: fail, onProblem: fail, remembered: { load, save: load as never } });
  world.accept(ONE);
  world.accept(TWO);
  for (const at of [1010, 1020, 1030]) await world.check(at);
  expect(told).toBe(3);
});

it('stores what waits after each check and when it stops, and reports once that it cannot', async () => {
  const remembered = rememberInMemory();
  const stored = async () => JSON.parse((await remembered.load()) ?? 'null')?.length;
  const world = openWorld({ remembered });
  world.accept(ONE);
  await world.check(1000);
  expect(await stored()).toBe(1);
  world.accept(TWO);
  await world.monitor.stop();
  expect([await stored(), world.problems]).toEqual([2, []]);
  const cause = new Error('disk full');
  const save = () => Promise.reject(cause);
  const failing = openWorld({ remembered: { load: async () => undefined, save } });
  failing.accept(ONE);
  for (const at of [1000, 1001]) await failing.check(at);
  await failing.monitor.stop();
  expect(failing.problems).toEqual([{ kind: 'unkept', cause }]);
});

it('stores what an earlier process left and what is new, although it stops before a check', async () => {
  const remembered = rememberInMemory();
  await remembered.save(
    JSON.stringify([{ commitment: ONE, proof: { version: 2, id: 'former' }, acceptedAt: 1 }]),
  );
  const world = openWorld({ remembered });
  world.accept(TWO);
  await world.monitor.stop();
  const stored = JSON.parse((await remembered.load()) ?? '');
  expect(stored).toMatchObject([{ commitment: ONE }, { commitment: TWO }]);
});

it('checks on a timer, one check at a time, until it is stopped; the timer keeps no process alive', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const world = openWorld({ everyMs: 1000 });
  vi.advanceTimersByTime(3000);
  await world.monitor.check();
  expect(world.heads).toBe(1);
  vi.advanceTimersByTime(1000);
  await world.monitor.stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(world.heads).toBe(2);
  vi.useRealTimers();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const { monitor } = openWorld();
  expect(timers()).toBe(before);
  await monitor.stop();
});
