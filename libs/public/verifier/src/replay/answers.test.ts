import { randomBytes } from 'node:crypto';
import { sharedRedisUrl } from '@ori/test-env/redis';
import { connect, plantOldFence } from '@ori/test-env/verifier/redis-world';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  openPool,
  plantOldEvent,
  query,
  startLedgerServer,
} from '../../../../../test/wings/postgres/world.ts';
import { memoryReplayStore } from './memory/store.ts';
import { postgresReplayStore } from './postgres/store.ts';
import { spentKey } from './redis/keys.ts';
import { redisReplayStore } from './redis/store.ts';
import type { ReplayPolicy, ReplayStore } from './replay-store.ts';
import type { SharedReplayStore } from './shared-store.ts';

const ANSWER = { status: 201, headers: { 'x-own': '1' }, body: Uint8Array.of(0, 255, 10) };

/** The keys under which the two processes seal answers. */
type Keys = readonly (Uint8Array | undefined)[];

/** An old store as two processes see it; in memory there is only one. */
const STORES: Record<string, (internId: string, keys: Keys) => Promise<[ReplayStore, ReplayStore]>> = {
  async memory() {
    let earlierMs = 3_600_000;
    const store = memoryReplayStore({ now: () => Date.now() - earlierMs });
    earlierMs = 0;
    return [store, store];
  },
  async redis(internId, keys) {
    const redis = await connect(sharedRedisUrl());
    await plantOldFence(redis, internId);
    const open = (answersKey?: Uint8Array) =>
      closing(redisReplayStore(redis, { mode: 'spend', timeoutMs: 5000, answersKey }));
    return [open(keys[0]), open(keys[1])];
  },
  async postgres(_internId, keys) {
    shared ??= startLedgerServer();
    const server = await shared;
    await plantOldEvent(server.url);
    const open = (answersKey?: Uint8Array) =>
      closing(postgresReplayStore(openPool(server.url), { replicas: 0, timeoutMs: 5000, answersKey }));
    return [open(keys[0]), open(keys[1])];
  },
};

/** As if the last sign of life of every process were old. */
const GONE: Record<string, (internId: string) => Promise<unknown>> = {
  async redis(internId) {
    const redis = await connect(sharedRedisUrl());
    const marks = await redis.zrangebyscore(spentKey(internId), '-inf', '(0');
    for (const mark of marks) if (mark.startsWith('alive:')) await redis.zadd(spentKey(internId), -1, mark);
  },
  postgres: async () => query((await shared)?.url ?? '', 'UPDATE ori_replay.process SET seen = 0'),
};

/** Everything that the server has of the answers of this intern. */
const DUMPS: Record<string, (internId: string) => Promise<string>> = {
  async redis(internId) {
    const redis = await connect(sharedRedisUrl());
    return String(await redis.mget(await redis.keys(`ori:{${internId}}:answer:*`)));
  },
  postgres: async (internId) =>
    JSON.stringify(
      await query(
        (await shared)?.url ?? '',
        `SELECT * FROM ori_replay.answer WHERE intern_id = '${internId}'`,
      ),
    ),
};

let shared: ReturnType<typeof startLedgerServer> | undefined;
afterAll(async () => (await shared)?.stop());

function closing(store: SharedReplayStore): SharedReplayStore {
  onTestFinished(() => store.close());
  return store;
}

async function world(kind: string, keys: Keys = []) {
  const internId = `int_${randomBytes(8).toString('hex')}`;
  const policy = { internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false, answers: {} };
  const stores = await (STORES[kind] as (typeof STORES)[string])(internId, keys);
  for (const store of stores) {
    store.attach?.(policy);
    if ('touch' in store) await (store as SharedReplayStore).touch();
  }
  const nonce = randomBytes(16).toString('base64url');
  // As if the fence were older: a question from the future, which only the verifier refuses.
  const timestamp = Math.floor(Date.now() / 1000) + 400;
  return {
    stores,
    policy,
    nonce,
    async spend(store: ReplayStore, of = nonce, caller: string | null = 'ada', by: ReplayPolicy = policy) {
      const [nowMs, signingInput] = [Date.now(), new Uint8Array()];
      const at = Math.floor(nowMs / 1000);
      const spend = {
        policy: by,
        timestamp: at,
        nowMs,
        nonce: of,
        signingInput,
        v1Id: () => 'ab'.repeat(32),
      };
      return store.spend(caller === null ? spend : { ...spend, caller });
    },
    ask: async (store: ReplayStore, user = 'ada', about = nonce, signed = timestamp) =>
      store.answers?.ask({ policy, user, nonce: about, timestamp: signed, nowMs: Date.now() }),
  };
}

describe.each(Object.keys(STORES))('in %s', (kind) => {
  // SPEC.md N15.
  test('a call is running, then answered, for its person and no other, at every process', async () => {
    const { stores, policy, nonce, spend, ask } = await world(kind);
    const [first, second] = stores;
    await spend(first);
    expect([await ask(second), await ask(second, 'mallory')]).toEqual(['running', 'not_received']);
    await first.answers?.keep({ policy, user: 'ada', nonce }, ANSWER);
    const kept = await ask(second);
    expect(kept).toMatchObject({ ...ANSWER, body: expect.anything() });
    expect([...(kept as typeof ANSWER).body]).toEqual([...ANSWER.body]);
    expect(await ask(second, 'mallory')).toBe('not_received');
    await expect(spend(second)).rejects.toMatchObject({ code: 'nonce_replayed' });
  });

  // SPEC.md N21.
  test('another person is told of a call what is told of none, near a fence too', async () => {
    const { stores, spend, ask } = await world(kind);
    const [first, second] = stores;
    await spend(first);
    const none = randomBytes(16).toString('base64url');
    expect([await ask(second, 'mallory', undefined, 0), await ask(second, 'mallory', none, 0)]).toEqual([
      'lost',
      'lost',
    ]);
    expect(await ask(second)).toBe('running');
  });

  test('a question about an unknown nonce voids it, once for all', async () => {
    const { stores, spend, ask } = await world(kind);
    const [first, second] = stores;
    expect(await Promise.all([ask(first), ask(second)])).toEqual(['not_received', 'not_received']);
    await expect(spend(first)).rejects.toMatchObject({ code: 'nonce_replayed' });
    expect(await ask(second)).toBe('not_received');
  });

  // SPEC.md N20. In PostgreSQL, what was spent is remembered for longer than a client asks.
  test.skipIf(kind === 'postgres')(
    'of calls that a verifier without answers accepted, nobody knows the end',
    async () => {
      const { stores, policy, spend, ask } = await world(kind);
      const [first, second] = stores;
      const [now, other] = [Math.floor(Date.now() / 1000), randomBytes(16).toString('base64url')];
      await spend(first, randomBytes(16).toString('base64url'), null);
      expect(await ask(second, 'ada', other, now + 250)).toBe('not_received');
      await spend(first, undefined, null, { ...policy, answers: undefined });
      expect(await ask(second, 'ada', other, now + 250)).toBe('lost');
      expect(await ask(second, 'ada', other, now + 400)).toBe('not_received');
    },
  );

  // SPEC.md N22.
  test('where version 1 is recorded, nothing was certainly not received', async () => {
    const { stores, policy, ask } = await world(kind);
    const [first, second] = stores;
    expect(await ask(first)).toBe('not_received');
    second.attach?.({ ...policy, acceptV1: true, answers: undefined });
    if ('touch' in second) await (second as SharedReplayStore).touch();
    expect([await ask(first), await ask(first, 'ada', randomBytes(16).toString('base64url'))]).toEqual([
      'lost',
      'lost',
    ]);
  });

  test('a question and its call at the same time: one of them wins', async () => {
    const { stores, spend, ask } = await world(kind);
    const [first, second] = stores;
    for (let round = 0; round < 50; round += 1) {
      const nonce = randomBytes(16).toString('base64url');
      const spent = spend(first, nonce).then(
        () => 'running',
        () => 'not_received',
      );
      const asked = ask(second, 'ada', nonce);
      expect(await asked).toBe(await spent);
    }
  });

  test.skipIf(kind === 'memory')('a call of a process that is gone is lost', async () => {
    const { stores, policy, spend, ask } = await world(kind);
    const [first, second] = stores;
    await spend(first);
    await GONE[kind]?.(policy.internId);
    await (first as SharedReplayStore).touch();
    expect(await ask(second)).toBe('running');
    (first as SharedReplayStore).close();
    await GONE[kind]?.(policy.internId);
    expect(await ask(second)).toBe('lost');
  });

  test.skipIf(kind === 'memory')(
    'a sealed answer is not in the server, and opens under its key alone',
    async () => {
      const [key, other] = [randomBytes(32), randomBytes(32)];
      const body = Buffer.from('other people read this');
      for (const keys of [
        [key, key],
        [key, other],
        [key, undefined],
        [undefined, key],
      ]) {
        const { stores, policy, nonce, spend, ask } = await world(kind, keys);
        const [first, second] = stores;
        await spend(first);
        await first.answers?.keep(
          { policy, user: 'ada', nonce },
          { ...ANSWER, headers: { 'x-own': 'secret' }, body },
        );
        const stored = (await DUMPS[kind]?.(policy.internId)) ?? '';
        const told = await ask(second);
        if (keys[0] === keys[1])
          expect(told).toMatchObject({ status: 201, headers: { 'x-own': 'secret' }, body });
        else expect(told).toBe('lost');
        expect(stored).toContain('ada');
        const plain = [body.toString('base64').slice(0, 12), 'x-own', 'secret', 'status'];
        expect(plain.filter((text) => stored.includes(text))).toEqual(keys[0] === undefined ? plain : []);
      }
    },
  );

  test('nothing is known of a spend without a record, nor of a nonce from before the fence', async () => {
    const { stores, spend, ask } = await world(kind);
    const [first, second] = stores;
    const plain = randomBytes(16).toString('base64url');
    await spend(first, plain, null);
    expect(await ask(second, 'ada', plain)).toBe('lost');
    expect(await ask(first, 'ada', undefined, 0)).toBe('lost');
    await expect(spend(second)).rejects.toMatchObject({ code: 'nonce_replayed' });
    expect(await ask(second, 'ada', undefined, 0)).toBe('lost');
    expect(await ask(first)).toBe('not_received');
  });
});
