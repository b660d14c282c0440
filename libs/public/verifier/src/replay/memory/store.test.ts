import cluster from 'node:cluster';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import type { ReplayPolicy, Spend } from '../replay-store.ts';
import { createLedger } from './ledger.ts';
import { memoryReplayStore } from './store.ts';

const NOW = 1_789_000_000;
const POLICY: ReplayPolicy = {
  internId: 'int_1',
  maxAgeSeconds: 60,
  clockToleranceSeconds: 2,
  acceptV1: false,
};

/** A store created at NOW, and distinct proofs for it. */
function world(entriesMax = 1000, errorSeconds = 0, createdMs = NOW * 1000) {
  const clock = { ms: createdMs, errorMs: errorSeconds * 1000 };
  const store = memoryReplayStore({
    entriesMax,
    now: () => clock.ms + clock.errorMs,
    uptime: () => clock.ms,
  });
  const answer = (id: number | string, body: Uint8Array) =>
    void store.answers?.keep(
      { policy: POLICY, user: 'ada', nonce: `nonce-${id}` },
      { status: 200, headers: {}, body },
    );
  const ask = (id: number | string, timestamp = Math.floor(clock.ms / 1000)) =>
    store.answers?.ask({ policy: POLICY, user: 'ada', nonce: `nonce-${id}`, timestamp, nowMs: clock.ms });
  const spend = (id: number | string, timestamp = Math.floor(clock.ms / 1000), change: Partial<Spend> = {}) =>
    store.spend({
      policy: POLICY,
      timestamp,
      nowMs: clock.ms + clock.errorMs,
      nonce: `nonce-${id}`,
      signingInput: new Uint8Array(),
      v1Id: () => `v1-${id}`,
      ...change,
    });
  const spendV1 = (id: number | string, timestamp?: number) => {
    const { nonce: _, ...v1 } = { nonce: '', policy: { ...POLICY, acceptV1: true } };
    return spend(id, timestamp, { ...v1, nonce: undefined } as never);
  };
  const seconds = (after: number): void => {
    clock.ms = (NOW + after) * 1000;
  };
  /** The error of the clock from now on. */
  const step = (seconds: number): void => {
    clock.errorMs = seconds * 1000;
  };
  return { clock, spend, spendV1, answer, ask, seconds, step };
}

test('judges the time of a proof by its own clock, at the spend', () => {
  const { spend, seconds } = world();
  seconds(400);
  expect(() => spend(1, NOW + 403)).toThrow(expect.objectContaining({ code: 'proof_not_yet_valid' }));
  expect(spend(1, NOW + 402)).toBe('spent');
  // 60 s of age, 30 of a body, 2 of tolerance.
  expect(() => spend(2, NOW + 400 - 92)).toThrow(expect.objectContaining({ code: 'proof_expired' }));
  expect(spend(2, NOW + 400 - 91)).toBe('spent');
});

test('calls whose answers are kept count beside their proofs', () => {
  const { spend, seconds } = world(4);
  seconds(10);
  for (const id of [1, 2]) spend(id, NOW + 10, { caller: 'ada' });
  expect(() => spend(3)).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
});

test('a question about an unknown call counts as one proof beside its own, until no proof could be accepted', () => {
  const { spend, ask, seconds } = world(2);
  seconds(400);
  void ask(1);
  void ask(1);
  void ask(2);
  expect(() => ask(3)).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
  expect(() => spend(4)).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
  // Until the latest timestamp, 60 s ahead, is older than a proof may be anywhere.
  seconds(460 + 690 - 1);
  expect(() => ask(3)).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
  seconds(460 + 690);
  expect(ask(3)).toBe('not_received');
  expect(spend(4)).toBe('spent');
});

test('a question voids its call for as long as a proof of it could be accepted', () => {
  const { spend, ask, seconds } = world();
  seconds(400);
  expect(ask(1)).toBe('not_received');
  seconds(402 + 92 - 1);
  expect(() => spend(1, NOW + 402)).toThrow(expect.objectContaining({ code: 'nonce_replayed' }));
  expect(ask(1)).toBe('not_received');
});

test('knows that a call was not received if it could not be of a time before the store', () => {
  const { ask, seconds } = world();
  seconds(302);
  expect([ask(1), ask(1)]).toEqual(['lost', 'lost']);
  seconds(303);
  expect([ask(2), ask(1)]).toEqual(['not_received', 'not_received']);
});

test('of a call that is spent without a record, nobody knows the end', () => {
  const { spend, ask, seconds } = world();
  seconds(400);
  spend(1);
  spend(2, undefined, { caller: 'ada' });
  expect([ask(1), ask(2)]).toEqual(['lost', 'running']);
});

test('a question voids its call for a verifier that tolerates more, too', () => {
  const { spend, ask, seconds } = world();
  seconds(400);
  expect(ask(1)).toBe('not_received');
  seconds(402 + 95);
  spend(2);
  const policy = { ...POLICY, clockToleranceSeconds: 60 };
  expect(() => spend(1, NOW + 450, { policy })).toThrow(expect.objectContaining({ code: 'nonce_replayed' }));
});

test('of a call that was accepted without a record, and forgotten, nobody knows the end', () => {
  const { spend, ask, seconds } = world();
  seconds(400);
  spend(1);
  seconds(500);
  spend(2);
  expect([ask(1), ask(1, NOW + 400 + 300), ask(1, NOW + 500 + 301)]).toEqual([
    'lost',
    'lost',
    'not_received',
  ]);
});

test('works immediately when a fast clock is corrected, and accepts nothing twice', () => {
  const { spend, seconds, step } = world();
  seconds(10);
  spend(1, NOW + 10);
  step(300);
  expect(() => spend(2, NOW + 10)).toThrow(expect.objectContaining({ code: 'proof_expired' }));
  spend(2, NOW + 312);
  step(0);
  expect(() => spend(1, NOW + 10)).toThrow(expect.objectContaining({ code: 'proof_expired' }));
  seconds(11);
  expect(() => spend(3)).not.toThrow();
});

test('refuses a proof that may have been accepted before its creation on a slow clock that was corrected since', () => {
  const { spend, seconds, step } = world(1000, -300);
  seconds(1);
  step(0);
  expect(() => spend('of a former life', NOW - 1)).toThrow(
    expect.objectContaining({ code: 'proof_before_fence' }),
  );
  seconds(4);
  expect(() => spend(1)).not.toThrow();
});

test('refuses what its predecessor may have accepted on a fast clock that was corrected since', () => {
  const { spend, seconds, step } = world(1000, 300);
  step(0);
  seconds(302);
  expect(() => spend('of a former life')).toThrow(expect.objectContaining({ code: 'proof_before_fence' }));
  seconds(303);
  expect(spend(1)).toBe('spent');
});

test('two clocks that drift apart by some milliseconds do not delay the first proof', () => {
  const { clock, spend, seconds } = world();
  seconds(3);
  clock.errorMs = 3;
  expect(spend(1)).toBe('spent');
});

test('refuses version 1 copies of proofs that were spent before the clock went back', () => {
  const { spend, spendV1, seconds, step } = world();
  seconds(10);
  spend('early', NOW + 10);
  step(-300);
  expect(() => spendV1('other', NOW - 290)).toThrow();
  step(0);
  expect(() => spendV1('early', NOW + 10)).toThrow(expect.objectContaining({ code: 'proof_before_fence' }));
});

test('remembers 100,000 proofs unless told otherwise, and refuses the next one', () => {
  let ms = NOW * 1000;
  const store = memoryReplayStore({ now: () => ms, uptime: () => ms });
  ms += 10_000;
  const spend = (id: number) =>
    store.spend({
      policy: POLICY,
      timestamp: NOW + 10,
      nowMs: ms,
      nonce: `nonce-${id}`,
      signingInput: new Uint8Array(),
      v1Id: () => `v1-${id}`,
    });
  for (let id = 0; id < 100_000; id += 1) spend(id);
  expect(() => spend(100_000)).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
});

test('refuses when full rather than forget: ten times the cap, and the first is still remembered', () => {
  const { spend, seconds } = world(100);
  seconds(10);
  let refused = 0;
  for (let id = 0; id < 1000; id += 1) {
    try {
      spend(id);
    } catch (error) {
      expect(error).toMatchObject({ name: 'UnavailableError', code: 'replay_store_full' });
      refused += 1;
    }
  }
  expect(refused).toBe(900);
  expect(() => spend(0)).toThrow(expect.objectContaining({ code: 'nonce_replayed' }));
  seconds(10 + 92);
  expect(() => spend(1000)).not.toThrow();
});

test('counts the version 1 id that two version 2 proofs share once', () => {
  const { spend, spendV1, seconds } = world(6);
  seconds(3);
  spendV1('first');
  spend(1, undefined, { v1Id: () => 'shared' });
  spend(2, undefined, { v1Id: () => 'shared' });
  expect(spend(3)).toBe('spent');
  expect(() => spend(4)).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
});

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

test('gives back the memory of its answers when it forgets the last', async () => {
  const { spend, answer, seconds } = world();
  const inUse = async () => {
    for (let times = 0; times < 3; times += 1) {
      collect();
      await setImmediate();
    }
    return process.memoryUsage().arrayBuffers;
  };
  const before = await inUse();
  seconds(10);
  spend(0, undefined, { caller: 'ada' });
  answer(0, new Uint8Array(1000));
  expect((await inUse()) - before).toBeLessThan(1 << 20);
  spend(1, undefined, { caller: 'ada' });
  answer(1, new Uint8Array(16 << 20));
  expect((await inUse()) - before).toBeGreaterThan(15 << 20);
  seconds(10 + 601);
  spend(2, undefined, { caller: 'ada' });
  expect((await inUse()) - before).toBeLessThan(1 << 20);
});

test('keeps nothing of the proofs that it forgot', () => {
  const ledger = createLedger();
  const heapAfter = (rounds: number): number => {
    for (let round = 0; round < rounds; round += 1) {
      const timestamp = ledger.highest + 2;
      ledger.add(
        timestamp,
        Array.from({ length: 2_000 }, (_, id) => `${id}`.padEnd(64, '.')),
      );
      ledger.forget(timestamp);
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heapAfter(5);
  expect(heapAfter(100) - before).toBeLessThan(4 << 20);
});

test('evicts proofs of an intern that is no longer called, once no verifier can accept them', () => {
  const { spend, seconds } = world(1);
  seconds(10);
  spend(1);
  const other = { policy: { ...POLICY, internId: 'int_2' } };
  seconds(10 + 689);
  expect(() => spend('x', undefined, other)).toThrow(expect.objectContaining({ code: 'replay_store_full' }));
  seconds(10 + 691);
  expect(() => spend('x', undefined, other)).not.toThrow();
});

test('does not compute version 1 ids if version 1 is not accepted', () => {
  const { spend, seconds } = world();
  seconds(10);
  const v1Id = (): string => {
    throw new Error('not needed');
  };
  expect(() => spend(1, undefined, { v1Id })).not.toThrow();
});

test.each([0, -1, 1.5, Number.NaN, '100'])('refuses a cap of %o', (entriesMax) => {
  expect(() => memoryReplayStore({ entriesMax: entriesMax as number })).toThrow(TypeError);
});

test('refuses to work in a worker of node:cluster, where each would accept the same proof', () => {
  expect(() => memoryReplayStore()).not.toThrow();
  onTestFinished(() => void Object.assign(cluster, { isWorker: false }));
  Object.assign(cluster, { isWorker: true });
  expect(() => memoryReplayStore()).toThrow(TypeError);
});

test('a store created while the clock still reads 0 starts with its first spend', () => {
  const { clock, spend, seconds } = world(1000, 0, 0);
  seconds(0);
  expect(() => spend('of a former life')).toThrow(expect.objectContaining({ code: 'proof_before_fence' }));
  clock.ms += 10_000;
  expect(spend('new')).toBe('spent');
});

test.each([{ entriesMaximum: 5 }, null, 7])('refuses the options %o', (options) => {
  expect(() => memoryReplayStore(options as never)).toThrow(TypeError);
});
