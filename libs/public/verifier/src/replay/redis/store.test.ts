import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { sharedRedisUrl } from '@ori/test-env/redis';
import { connect, daemonOn, headerOf, plantOldFence, reserve } from '@ori/test-env/verifier/redis-world';
import { STRICT } from '@ori/test-env/verifier/strict-client';
import { describeVersion1 } from '@ori/test-env/verifier/version-1';
import { createClient, createClientPool, createCluster } from '@redis/client';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { keepAnswers } from '../../answers/keep-answers.ts';
import { createLocalKeySet } from '../../keys/local.ts';
import { createVerifier } from '../../verifier.ts';
import type { ReplayPolicy } from '../replay-store.ts';
import { type RedisClient, SCRIPT_SHA1 } from './client.ts';
import { spentKey } from './keys.ts';
import { adaptNodeRedis, type NodeRedisClient } from './node-redis.ts';
import { issuedKey } from './reservation.ts';
import { REDIS_SCRIPTS, type RedisScriptName } from './scripts.ts';
import { type RedisReplayStoreOptions, redisReplayStore } from './store.ts';

const POLICY = { internId: 'int_1', maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };

let redis: Redis;
beforeEach(async () => {
  redis = await connect(sharedRedisUrl());
});

describeVersion1(async () => {
  const world = await daemonOn(redis, { acceptV1: true });
  return { ...world, backdate: () => redis.zadd(world.key, -(Date.now() / 1000 - 100), 'v1') };
});

describe('spend', () => {
  test('accepts a nonce once, whatever proof it is in', async () => {
    const { verifier, request } = await daemonOn(redis);
    const signed = request();
    await verifier.verify(signed);
    const nonce = headerOf(signed, 'x-ori-invoke-nonce');
    const timestamp = Number(headerOf(signed, 'x-ori-invoke-timestamp')) - 1;
    await expect(verifier.verify(request({ nonce, timestamp, user: 'user_other' }))).rejects.toMatchObject({
      code: 'nonce_replayed',
    });
  });

  test('stores only the raw id and its time', async () => {
    const { verifier, request, key } = await daemonOn(redis);
    const signed = request();
    await verifier.verify(signed);
    const id = Buffer.concat([
      Buffer.from('2'),
      Buffer.from(headerOf(signed, 'x-ori-invoke-nonce'), 'base64url'),
    ]);
    expect(await redis.zscore(key, id)).toBe(headerOf(signed, 'x-ori-invoke-timestamp'));
    expect(await redis.zcount(key, 0, '+inf')).toBe(1);
  });

  test('removes a few expired ids with one of 16 spends, and raises the floor to the latest of them', async () => {
    const { verifier, request, key } = await daemonOn(redis);
    const old = Math.floor(Date.now() / 1000) - 2000;
    await redis.zadd(key, ...Array.from({ length: 100 }, (_, index) => [old + index, `old-${index}`]).flat());
    const nonceFrom = (first: number) => Buffer.from([first, ...randomBytes(15)]).toString('base64url');
    await verifier.verify(request({ nonce: nonceFrom(16) }));
    expect(await redis.zcount(key, 0, '+inf')).toBe(101);
    await verifier.verify(request({ nonce: nonceFrom(15) }));
    expect(await redis.zcount(key, 0, '+inf')).toBe(100 - 64 + 2);
    // No higher, because the clocks may be ahead: proofs of a time that was not forgotten are accepted once they are right.
    expect(-Number(await redis.zscore(key, 'floor'))).toBe(old + 63);
    await verifier.verify(request({ nonce: nonceFrom(0) }));
    expect(await redis.zcount(key, 0, '+inf')).toBe(3);
  });

  test('a check forgets too, and the set of an intern that nobody checks any more expires in a day', async () => {
    const { replay, key } = await daemonOn(redis);
    const old = Math.floor(Date.now() / 1000) - 2000;
    await redis.zadd(
      key,
      ...Array.from({ length: 1500 }, (_, index) => [old + index, `old-${index}`]).flat(),
    );
    await replay.touch();
    expect(await redis.zcount(key, 0, '+inf')).toBe(500);
    expect(-Number(await redis.zscore(key, 'floor'))).toBe(old + 999);
    await replay.touch();
    expect(await redis.zcount(key, 0, old + 1900)).toBe(0);
    expect(await redis.ttl(key)).toBeGreaterThan(86_000);
  });

  test('refuses a proof as old as a forgotten one', async () => {
    const { verifier, request, key } = await daemonOn(redis);
    const signed = request();
    await redis.zadd(key, -Number(headerOf(signed, 'x-ori-invoke-timestamp')), 'floor');
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_expired' });
  });

  test('refuses a proof stamped ahead of the clock of the server', async () => {
    const { verifier, request } = await daemonOn(redis, { now: () => Date.now() + 1900 });
    const signed = request({ timestamp: Math.floor((Date.now() + 3900) / 1000) });
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_not_yet_valid' });
  });

  test.each([-5, 5])('refuses to work while the clocks are %i s apart', async (seconds) => {
    const { verifier, request } = await daemonOn(redis, { now: () => Date.now() + seconds * 1000 });
    const timestamp = Math.floor(Date.now() / 1000) + seconds;
    await expect(verifier.verify(request({ timestamp }))).rejects.toMatchObject({
      code: 'replay_store_unsafe',
    });
  });
});

test('the clocks may differ by a second even for a verifier that tolerates nothing', async () => {
  const { replay, internId } = await daemonOn(redis);
  const policy = { ...POLICY, internId, clockToleranceSeconds: 0 };
  const spendAt = (nowMs: number) =>
    replay.spend({
      policy,
      timestamp: Math.floor(Date.now() / 1000),
      nowMs,
      nonce: randomBytes(16).toString('base64url'),
      signingInput: new Uint8Array(),
      v1Id: () => '00'.repeat(32),
    });
  await expect(spendAt(Date.now() - 700)).resolves.toBe('spent');
  await expect(spendAt(Date.now() - 1500)).rejects.toMatchObject({ code: 'replay_store_unsafe' });
});

describe('spends of one turn of the event loop', () => {
  const nonceFrom = (first: number) => Buffer.from([first, ...randomBytes(15)]).toString('base64url');
  /** A store of an intern, and what becomes of its spends that are made together: 'spent', or the code of the error. */
  const storeOn = async () => {
    const { replay, internId, key } = await daemonOn(redis);
    const policy = { ...POLICY, internId };
    const timestamp = Math.floor(Date.now() / 1000);
    const spendAll = (...proofs: { nonce: string; at?: number; v1?: string }[]) =>
      Promise.all(
        proofs.map(async ({ nonce, at = timestamp, v1 = randomBytes(32).toString('hex') }) => {
          const signingInput = new Uint8Array();
          const proof = { timestamp: at, nonce, signingInput, v1Id: () => v1, nowMs: Date.now() };
          try {
            return await replay.spend({ ...proof, policy });
          } catch (error) {
            return (error as { code?: unknown }).code;
          }
        }),
      );
    return { key, timestamp, spendAll };
  };

  test('get a verdict each, in their order', async () => {
    const { key, timestamp, spendAll } = await storeOn();
    const [first, second, late] = [nonceFrom(255), nonceFrom(255), nonceFrom(255)];
    expect(await spendAll({ nonce: first, at: timestamp - 93 })).toEqual(['proof_expired']);
    await redis.zadd(key, -(timestamp - 50), 'floor');
    const verdicts = await spendAll(
      { nonce: first },
      { nonce: first },
      { nonce: nonceFrom(255), at: timestamp - 50 },
      { nonce: nonceFrom(255), at: timestamp + 60 },
      { nonce: second },
      { nonce: late, at: timestamp - 49 },
    );
    expect(verdicts).toEqual([
      'spent',
      'nonce_replayed',
      'proof_expired',
      'proof_not_yet_valid',
      'spent',
      'spent',
    ]);
    expect(await spendAll({ nonce: late }, { nonce: second }, { nonce: first })).toEqual([
      'nonce_replayed',
      'nonce_replayed',
      'nonce_replayed',
    ]);
  });

  test('leave what one spend leaves: the ids, those of version 1 where they count, the latest time', async () => {
    const { key, timestamp, spendAll } = await storeOn();
    await redis.zadd(key, -(timestamp - 100), 'v1');
    const [known, other] = ['5a'.repeat(32), '5b'.repeat(32)];
    await redis.zadd(key, timestamp, Buffer.concat([Buffer.from('1'), Buffer.from(known, 'hex')]));
    const verdicts = await spendAll(
      { nonce: nonceFrom(255), v1: known },
      { nonce: nonceFrom(255), at: timestamp - 1, v1: other },
      { nonce: nonceFrom(255), at: timestamp - 2 },
    );
    expect(verdicts).toEqual(['nonce_replayed', 'spent', 'spent']);
    const mark = Buffer.concat([Buffer.from('m'), Buffer.from(other, 'hex')]);
    expect(await redis.zscore(key, mark)).toBe(String(timestamp - 1));
    expect(-Number(await redis.zscore(key, 'unrecorded'))).toBe(timestamp - 1);
    expect(await redis.zcount(key, 0, '+inf')).toBe(1 + 2 * 2);
  });

  test('forget as often as single ones', async () => {
    const { key, spendAll } = await storeOn();
    const old = Math.floor(Date.now() / 1000) - 2000;
    await redis.zadd(key, ...Array.from({ length: 200 }, (_, index) => [old + index, `old-${index}`]).flat());
    await spendAll({ nonce: nonceFrom(16) }, { nonce: nonceFrom(15) }, { nonce: nonceFrom(0) });
    expect(await redis.zcount(key, 0, '+inf')).toBe(200 - 2 * 64 + 3);
    expect(-Number(await redis.zscore(key, 'floor'))).toBe(old + 127);
  });
});

describe('the fence', () => {
  test.each([
    ['numbers', false],
    ['text', true],
  ])(
    'is written at start, and refuses every proof issued up to then, with the time to wait, given as %s',
    async (_how, stringNumbers) => {
      const { verifierOn, request, key } = await daemonOn(redis);
      const client = new Redis(sharedRedisUrl(), { ...STRICT, stringNumbers });
      onTestFinished(() => client.disconnect());
      await once(client, 'ready');
      const { verifier, replay } = verifierOn(client);
      await redis.del(key);
      await replay.touch();
      expect(await redis.zcard(key)).toBe(1);
      await expect(verifier.verify(request())).rejects.toMatchObject({
        code: 'proof_before_fence',
        retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds >= 3 && seconds <= 4),
      });
    },
  );

  test('is compared with the tolerance of whoever presents a proof, not of whoever set it', async () => {
    const { replay, internId, signer, request, key } = await daemonOn(redis);
    await redis.del(key);
    await replay.touch();
    const keys = createLocalKeySet(signer.jwks);
    const generous = createVerifier({ internId, keys, replay, clockToleranceSeconds: 60 });
    const ahead = request({ timestamp: Math.floor(Date.now() / 1000) + 30 });
    await expect(generous.verify(ahead)).rejects.toMatchObject({ code: 'proof_before_fence' });
  });

  // SPEC.md N5, O8.
  test('is past in a second for a proof from before it, but not where version 1 is recorded since later', async () => {
    const { replay, internId, signer, request } = await daemonOn(redis, { acceptV1: true });
    const keys = createLocalKeySet(signer.jwks);
    const patient = createVerifier({ internId, keys, replay, maxAgeSeconds: 600, acceptV1: true });
    const timestamp = Math.floor(Date.now() / 1000) - 110;
    const pauseOf = (version: 1 | 2) =>
      patient.verify(request({ timestamp, version })).catch(({ retryAfterSeconds }) => retryAfterSeconds);
    expect(await pauseOf(2)).toBe(1);
    expect(await pauseOf(1)).toBeGreaterThanOrEqual(3);
  });

  test('is found missing, and set again, by the first spend after a loss', async () => {
    const { verifier, request, key } = await daemonOn(redis);
    const signed = request();
    await verifier.verify(signed);
    await redis.del(key);
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
  });

  test('is ignored if it is older than one this verifier has seen', async () => {
    const { verifier, request, key, internId } = await daemonOn(redis);
    await redis.del(key);
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'proof_before_fence' });
    await plantOldFence(redis, internId);
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'proof_before_fence' });
  });

  test('is no earlier than the clock of the verifier, nor than one that it has seen', async () => {
    const { verifierOn, key } = await daemonOn(redis);
    const { replay } = verifierOn(redis, { now: () => Date.now() + 900 });
    const id = /master_replid:(\w+)/.exec(await redis.info('replication'))?.[1];
    const fence = async () => -Number(await redis.zscore(key, `fence:${id}`));
    const before = Date.now() / 1000;
    await redis.del(key);
    await replay.touch();
    expect(await fence()).toBeGreaterThan(before + 0.8);
    const later = Date.now() / 1000 + 5;
    await redis.zadd(key, -later, `fence:${id}`);
    await replay.touch();
    await redis.del(key);
    await replay.touch();
    expect(await fence()).toBeGreaterThan(later);
  });

  test.each([-100, 5])(
    'of another server, of %i s from now, is ignored and removed, and the new one is later',
    async (s) => {
      const { verifier, request, key } = await daemonOn(redis);
      await redis.del(key);
      const theirs = Date.now() / 1000 + s;
      await redis.zadd(key, -theirs, `fence:${'0'.repeat(40)}`);
      await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'proof_before_fence' });
      const [name, score] = await redis.zrange(key, '0', '-1', 'WITHSCORES');
      expect(name).not.toBe(`fence:${'0'.repeat(40)}`);
      expect(-Number(score)).toBeGreaterThan(theirs);
    },
  );
});

describe('a question', () => {
  const question = (internId: string, nowMs = Date.now()) => ({
    policy: { ...POLICY, internId, answers: {} },
    user: 'ada',
    nonce: 'A'.repeat(22),
    timestamp: Math.floor(nowMs / 1000),
    nowMs,
  });

  test('is refused by a server that is not safe, now or at the last check', async () => {
    const { replay, internId, verifierOn } = await daemonOn(redis);
    const late = replay.answers.ask(question(internId, Date.now() + 5000));
    await expect(late).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    const doubting = verifierOn(redis, { now: () => Date.now() + 5000 }).replay;
    await expect(doubting.touch()).rejects.toThrow();
    await expect(doubting.answers.ask(question(internId))).rejects.toMatchObject({
      code: 'replay_store_unsafe',
    });
  });

  test('finds the call of a daemon that redeems', async () => {
    const { replay, internId, signer, request } = await daemonOn(redis, { mode: 'redeem' });
    const keys = createLocalKeySet(signer.jwks);
    const keeping = createVerifier({ internId, keys, replay, answers: keepAnswers() });
    const signed = request();
    await reserve(redis, internId, signed);
    await keeping.verify(signed);
    const about = {
      nonce: headerOf(signed, 'x-ori-invoke-nonce'),
      user: headerOf(signed, 'x-ori-invoke-user'),
    };
    await replay.touch();
    expect(await replay.answers.ask({ ...question(internId), ...about })).toBe('running');
  });
});

describe('the signs of life of processes that keep answers', () => {
  const alive = async (key: string) =>
    (await redis.zrangebyscore(key, '-inf', '(0')).filter((name) => name.startsWith('alive:'));

  test('of a day ago are removed by a check, and those of others stay', async () => {
    const { replay, internId, key } = await daemonOn(redis);
    replay.attach({ ...POLICY, internId, answers: {} });
    const now = Date.now() / 1000;
    await redis.zadd(key, -(now - 86_401), 'alive:gone', -(now - 86_000), 'alive:silent');
    await replay.touch();
    expect(await alive(key)).toEqual([expect.stringMatching(/^alive:[\da-f-]{36}$/), 'alive:silent']);
  });

  test('are left by a call too, so that it runs although checks are late', async () => {
    const { replay, internId, key } = await daemonOn(redis);
    const policy = { ...POLICY, internId, answers: {} };
    const [user, timestamp, nowMs] = ['ada', Math.floor(Date.now() / 1000), Date.now()];
    const call = { policy, user, nonce: 'A'.repeat(22), timestamp, nowMs };
    const signingInput = new Uint8Array();
    await replay.spend({ ...call, caller: user, signingInput, v1Id: () => '00'.repeat(32) });
    expect(await alive(key)).toHaveLength(1);
    expect(await replay.answers.ask(call)).toBe('running');
  });
});

test('a question voids its call for every verifier, however much that tolerates', async () => {
  const { replay, internId, key } = await daemonOn(redis);
  const policy = { ...POLICY, internId, answers: {} };
  const now = Math.floor(Date.now() / 1000);
  await replay.answers.ask({ policy, user: 'ada', nonce: 'A'.repeat(22), timestamp: now, nowMs: Date.now() });
  const id = Buffer.concat([Buffer.from('2'), Buffer.alloc(16)]);
  expect(Number(await redis.zscore(key, id))).toBeGreaterThanOrEqual(now + 60);
});

describe('the recording of version 1', () => {
  test('starts with a verifier that accepts it, or else with its first spend', async () => {
    const { verifier, request, key } = await daemonOn(redis, { acceptV1: true });
    expect(await redis.zscore(key, 'v1')).not.toBeNull();
    await redis.zrem(key, 'v1');
    await expect(verifier.verify(request({ version: 1 }))).rejects.toMatchObject({
      code: 'proof_before_fence',
    });
    expect(await redis.zscore(key, 'v1')).not.toBeNull();
  });

  test('starts later than every proof that was spent before', async () => {
    const { replay, key } = await daemonOn(redis, { acceptV1: true });
    const timestamp = Math.floor(Date.now() / 1000) + 30;
    await redis.zrem(key, 'v1');
    await redis.zadd(key, timestamp, 'of a verifier that tolerates more');
    await replay.touch();
    expect(-Number(await redis.zscore(key, 'v1'))).toBe(timestamp);
  });

  test('goes on although another verifier with the same store does not accept it', async () => {
    const { replay, internId, key } = await daemonOn(redis, { acceptV1: true });
    replay.attach({ ...POLICY, internId });
    await redis.zrem(key, 'v1');
    await replay.touch();
    expect(await redis.zscore(key, 'v1')).not.toBeNull();
  });
});

describe('redeem', () => {
  // SPEC.md N12.
  test('refuses a correctly signed proof whose nonce was never issued, and does not spend it', async () => {
    const { verifier, request, internId } = await daemonOn(redis, { mode: 'redeem' });
    const signed = request();
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_not_issued' });
    await reserve(redis, internId, signed);
    await expect(verifier.verify(signed)).resolves.toBeDefined();
  });

  test('refuses a nonce that was issued for another proof', async () => {
    const { verifier, request, internId } = await daemonOn(redis, { mode: 'redeem' });
    const first = request();
    const nonce = headerOf(first, 'x-ori-invoke-nonce');
    await reserve(redis, internId, first);
    const second = request({ nonce, user: 'user_other' });
    await expect(verifier.verify(second)).rejects.toMatchObject({ code: 'nonce_not_issued' });
  });

  test('is fenced like a spend', async () => {
    const { verifier, request, internId, key } = await daemonOn(redis, { mode: 'redeem' });
    const signed = request();
    await reserve(redis, internId, signed);
    await redis.del(key);
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
  });

  test('leaves the reservation in place: the nonce cannot be issued again', async () => {
    const { verifier, request, internId } = await daemonOn(redis, { mode: 'redeem' });
    const signed = request();
    const nonce = headerOf(signed, 'x-ori-invoke-nonce');
    await reserve(redis, internId, signed);
    await verifier.verify(signed);
    expect(await redis.exists(issuedKey(internId, nonce))).toBe(1);
  });

  // SPEC.md N13.
  test('excludes version 1, which has no nonce', async () => {
    await expect(daemonOn(redis, { mode: 'redeem', acceptV1: true })).rejects.toThrow(TypeError);
  });
});

describe('the client', () => {
  const nothing = (): void => undefined;
  const whole = {
    options: STRICT,
    call: nothing,
    pipeline: nothing,
    on: nothing,
    stream: { destroy: nothing },
  };

  test.each([
    [{ enableOfflineQueue: true }, /enableOfflineQueue: false/],
    [{ autoResendUnfulfilledCommands: true }, /autoResendUnfulfilledCommands: false/],
    [{ maxRetriesPerRequest: null }, /maxRetriesPerRequest: 0/],
    [{ maxRetriesPerRequest: 3 }, /maxRetriesPerRequest: 0/],
    [{ keyPrefix: 'x:' }, /no keyPrefix/],
  ])(
    'that queues or repeats commands, or adds a prefix, is refused with the option to set: %o',
    (wrong, words) => {
      const client = new Redis({ lazyConnect: true, ...STRICT, ...wrong });
      expect(() => redisReplayStore(client, { mode: 'spend' })).toThrow(words);
      expect(() => redisReplayStore(client, { mode: 'spend' })).toThrow(TypeError);
    },
  );

  test.each([
    undefined,
    {},
    { ...whole, call: undefined },
    { ...whole, pipeline: undefined },
    { ...whole, on: undefined },
    { options: STRICT, call: nothing, pipeline: nothing, on: nothing },
    { options: { disableOfflineQueue: true }, isReady: true, sendCommand: '', on: nothing },
  ])('that is not a Redis client is refused: %o', (client) => {
    expect(() => redisReplayStore(client as never, { mode: 'spend' })).toThrow(/^redisReplayStore: /);
  });

  test.each([
    undefined,
    {},
    { mode: 'both' },
    { mode: 'spend', replicas: -1 },
    { mode: 'spend', replicas: 1.5 },
    { mode: 'spend', timeoutMs: 0 },
    { mode: 'spend', timeoutMs: 5000.5 },
    { mode: 'spend', touchSeconds: 60.5 },
    { mode: 'spend', touchSeconds: 0 },
    { mode: 'spend', replica: 2 },
  ])('must come with valid options, not %o', (options) => {
    expect(() => redisReplayStore(redis, options as never)).toThrow(TypeError);
  });

  test('may come with the greatest values', () => {
    redisReplayStore(redis, { mode: 'spend', timeoutMs: 5000, touchSeconds: 60 }).close();
  });

  test('that is not connected fails immediately, and works as soon as it is connected', async () => {
    const { verifierOn, request } = await daemonOn(redis);
    const client = new Redis(sharedRedisUrl(), { lazyConnect: true, ...STRICT });
    const { verifier } = verifierOn(client);
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unavailable' });
    await once(client, 'ready');
    await expect(verifier.verify(request())).resolves.toBeDefined();
    client.disconnect();
  });
});

test('a late answer does not make the newest fence older', async () => {
  const { verifierOn, request, internId } = await daemonOn(redis);
  const held = Promise.withResolvers<void>();
  let holds = false;
  const client: RedisClient = {
    options: redis.options,
    async call(...command) {
      const wasHeld = holds;
      holds = false;
      const answer = await redis.call(...command);
      if (wasHeld) await held.promise;
      return answer;
    },
    pipeline: (commands) => redis.pipeline(commands) as never,
    stream: undefined,
    on: () => undefined,
    off: () => undefined,
  };
  const { verifier, replay } = verifierOn(client);
  await replay.ready();
  holds = true;
  const late = replay.touch();
  // As after a restart without the data: the server writes a newer fence.
  await redis.del(spentKey(internId));
  await replay.touch();
  held.resolve();
  await late;
  // The data from before the restart comes back, with its older fence.
  await plantOldFence(redis, internId);
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'proof_before_fence' });
});

describe('ready', () => {
  test('is refused while no verifier uses the store, whatever the server', async () => {
    const replay = redisReplayStore(redis, { mode: 'spend' });
    await expect(replay.ready()).rejects.toThrow(TypeError);
    await expect(replay.touch()).rejects.toThrow(TypeError);
    replay.close();
  });

  test('waits for a client that is still connecting', async () => {
    const { verifierOn } = await daemonOn(redis);
    const client = new Redis(sharedRedisUrl(), STRICT);
    const { replay } = verifierOn(client);
    await expect(replay.ready()).resolves.toBeUndefined();
    client.disconnect();
  });

  test('rejects if the server is not available in time', async () => {
    const { verifierOn } = await daemonOn(redis);
    const client = new Redis({ ...STRICT, port: 1, retryStrategy: () => 10 }).on('error', () => undefined);
    const { replay } = verifierOn(client);
    await expect(replay.ready(100)).rejects.toMatchObject({ code: 'replay_store_unavailable' });
    client.disconnect();
  });
});

describe('node-redis', () => {
  const open = async () => {
    const client = createClient({ url: sharedRedisUrl(), disableOfflineQueue: true });
    client.on('error', () => undefined);
    await client.connect();
    onTestFinished(() => client.destroy());
    return client;
  };

  test.each(['spend', 'redeem'] as const)('accepts a proof once, in mode %s', async (mode) => {
    const client = await open();
    const { verifierOn, request, internId } = await daemonOn(redis);
    const { verifier, replay } = verifierOn(client, { mode });
    await replay.ready();
    const signed = request();
    if (mode === 'redeem') {
      await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_not_issued' });
      await reserve(redis, internId, signed);
    }
    const verdicts = await Promise.allSettled(Array.from({ length: 50 }, () => verifier.verify(signed)));
    expect(verdicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('waits for replicas on the connection that spent', async () => {
    const client = await open();
    const { verifierOn, request } = await daemonOn(redis);
    const { verifier } = verifierOn(client, { replicas: 2, timeoutMs: 2000 });
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  });

  test('is not opened again if its owner closed it', async () => {
    const client = await open();
    const { stream } = adaptNodeRedis(client as never);
    await client.close();
    stream?.destroy();
    expect(client.isOpen).toBe(false);
    await client.connect();
  });

  test('loads missing scripts', async () => {
    const client = await open();
    const { verifierOn, request } = await daemonOn(redis);
    await redis.script('FLUSH');
    const { verifier, replay } = verifierOn(client);
    await replay.ready();
    await expect(verifier.verify(request())).resolves.toBeDefined();
  });

  test('is refused if it queues commands or is not a single connection', () => {
    const open = (client: unknown) => () => redisReplayStore(client as never, { mode: 'spend' });
    expect(open(createClient())).toThrow('disableOfflineQueue');
    for (const several of [createCluster({ rootNodes: [] }), createClientPool()]) {
      expect(open(several)).toThrow('made by createClient');
    }
  });
});

const CLIENTS = ['ioredis', 'node-redis'] as const;
const SPENT = ['spent', '1.000000'];

/** A store over a client of this kind, whose server answers each command as `says` says, and throws an Error. */
function fakeWorld(kind: (typeof CLIENTS)[number], options: Partial<RedisReplayStoreOptions> = {}) {
  const says: Record<string, unknown> = {
    touch: ['touched', '1.000000'],
    spendV2: SPENT,
    redeem: SPENT,
    spendMany: [SPENT, SPENT],
  };
  /** The names of the scripts and other commands. */
  const sent: string[] = [];
  /** The last arguments of each. */
  const given: Record<string, unknown[]> = {};
  const reply = async ([command, ...args]: readonly unknown[]): Promise<unknown> => {
    const script = Object.keys(REDIS_SCRIPTS).find(
      (name) => SCRIPT_SHA1[name as RedisScriptName] === args[0],
    );
    const name = script ?? String(command);
    sent.push(name);
    given[name] = script === undefined ? args : args.slice(3);
    const answer = await says[name];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const destroy = vi.fn();
  const connect = vi.fn(async () => undefined);
  const client = Object.assign(
    new EventEmitter(),
    kind === 'node-redis'
      ? {
          isOpen: true,
          isReady: true,
          options: { disableOfflineQueue: true },
          sendCommand: reply,
          destroy,
          connect,
        }
      : {
          options: STRICT,
          stream: { destroy },
          call: (...command: unknown[]) => reply(command),
          pipeline: (commands: unknown[][]) => ({
            exec: async () =>
              'exec' in says
                ? says['exec']
                : Promise.all(
                    commands.map((command) =>
                      reply(command).then(
                        (answer) => [null, answer],
                        (error: unknown) => [error],
                      ),
                    ),
                  ),
          }),
        },
  );
  const store = redisReplayStore(client as unknown as RedisClient | NodeRedisClient, {
    mode: 'spend',
    ...options,
  });
  onTestFinished(() => store.close());
  store.attach(POLICY);
  const attempt = (policy: ReplayPolicy = POLICY): Promise<unknown> =>
    store.spend({
      policy,
      timestamp: 2,
      nowMs: 2000,
      nonce: 'AAECAwQFBgcICQoLDA0ODw',
      signingInput: new Uint8Array(),
      v1Id: () => '00'.repeat(32),
    });
  /** 'spent', or the code of the error. */
  const spend = (policy?: ReplayPolicy): Promise<unknown> => attempt(policy).catch((error) => error.code);
  return { client, store, attempt, spend, says, sent, given };
}

describe.each(CLIENTS)('over %s, the store', (kind) => {
  test.each([
    [SPENT, 1, 'spent'],
    [SPENT, 2, 'spent'],
    [SPENT, 0, 'replay_store_unsafe'],
    [SPENT, undefined, 'replay_store_unsafe'],
    [SPENT, new Error('NOPERM'), 'replay_store_unavailable'],
    [['replayed', '1.000000'], 0, 'nonce_replayed'],
    [new Error('OOM command not allowed'), 0, 'replay_store_full'],
    [new Error('MISCONF Errors writing to the AOF file'), 0, 'replay_store_full'],
    [new Error('READONLY You cannot write'), 0, 'replay_store_unsafe'],
    [new Error('NOREPLICAS Not enough good replicas'), 0, 'replay_store_unsafe'],
    [new Error('LOADING'), 0, 'replay_store_unavailable'],
    [undefined, 1, 'replay_store_unavailable'],
  ])('with the answer %o, acknowledged by %o, says %s', async (answer, acknowledged, said) => {
    const { spend, says, sent } = fakeWorld(kind, { replicas: 2 });
    Object.assign(says, { spendV2: answer, wait: acknowledged });
    expect(await spend()).toBe(said);
    expect(sent).toEqual(['touch', 'spendV2', 'wait']);
  });

  test('checks the server when a verifier comes and when the client has connected, until it is closed', () => {
    const { client, store, sent } = fakeWorld(kind);
    expect(sent).toEqual(['touch']);
    client.emit('ready');
    expect(sent).toEqual(['touch', 'touch']);
    store.close();
    client.emit('ready');
    expect(sent).toEqual(['touch', 'touch']);
  });
});

describe('what is spent together', () => {
  test('is what one policy spends in one turn, and at most 64', async () => {
    const { spend, says, sent, given } = fakeWorld('ioredis', { timeoutMs: 1000 });
    says['spendMany'] = Array(64).fill(SPENT);
    const other = { ...POLICY, clockToleranceSeconds: 5 };
    const verdicts = await Promise.all([
      ...Array.from({ length: 65 }, () => spend()),
      spend(other),
      new Promise((resolve) => setImmediate(resolve)).then(() => spend(other)),
    ]);
    expect(new Set(verdicts)).toEqual(new Set(['spent']));
    expect(sent).toEqual(['touch', 'spendMany', 'spendV2', 'spendV2', 'spendV2']);
    expect(given['spendMany']).toHaveLength(6 + 64 * 3);
  });

  test.each([
    ['redeems', 'redeem', POLICY],
    ['keeps answers', 'spend', { ...POLICY, answers: {} }],
  ] as const)('is no spend of a verifier that %s', async (_title, mode, policy) => {
    const { spend, sent } = fakeWorld('ioredis', { mode });
    expect(await Promise.all([spend(policy), spend(policy)])).toEqual(['spent', 'spent']);
    const script = mode === 'redeem' ? 'redeem' : 'spendV2';
    expect(sent).toEqual(['touch', script, script]);
  });

  test.each([
    [['unsafe', 'the clocks are apart'], 'replay_store_unsafe'],
    [[SPENT], 'replay_store_unavailable'],
    [[SPENT, SPENT, SPENT], 'replay_store_unavailable'],
    [SPENT, 'replay_store_unavailable'],
    [new Error('OOM command not allowed'), 'replay_store_full'],
  ])('answered by %o is refused: %s', async (answer, code) => {
    const { spend, says } = fakeWorld('ioredis');
    says['spendMany'] = answer;
    expect(await Promise.all([spend(), spend()])).toEqual([code, code]);
  });

  test('is not spent without the acknowledgements; what was refused stays refused', async () => {
    const { spend, says, sent } = fakeWorld('ioredis', { replicas: 1 });
    Object.assign(says, { spendMany: [['replayed', '1.000000'], SPENT], wait: 0 });
    expect(await Promise.all([spend(), spend()])).toEqual(['nonce_replayed', 'replay_store_unsafe']);
    says['wait'] = 1;
    expect(await Promise.all([spend(), spend()])).toEqual(['nonce_replayed', 'spent']);
    expect(sent).toEqual(['touch', 'spendMany', 'wait', 'spendMany', 'wait']);
  });
});

test.each([
  [1, 1],
  [200, 150],
])('of %i ms, replicas have %i ms to acknowledge', async (timeoutMs, waitMs) => {
  const { spend, given } = fakeWorld('ioredis', { replicas: 3, timeoutMs });
  await spend();
  expect(given['wait']).toEqual([2, waitMs]);
});

test.each([
  [null, 'replay_store_unavailable'],
  [[], 'replay_store_unavailable'],
  [[[null, SPENT]], 'replay_store_unsafe'],
])('a pipeline that returns %j says %s', async (exec, code) => {
  const { spend, says } = fakeWorld('ioredis', { replicas: 1 });
  says['exec'] = exec;
  expect(await spend()).toBe(code);
});

test('a server found unsafe is not asked to spend until a check finds it safe', async () => {
  const { spend, store, says, sent } = fakeWorld('ioredis');
  const safe = says['touch'];
  says['touch'] = ['unsafe', 'maxmemory-policy is not noeviction'];
  await expect(store.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  expect(await spend()).toBe('replay_store_unsafe');
  expect(sent).not.toContain('spendV2');
  says['touch'] = safe;
  await store.touch();
  expect(await spend()).toBe('spent');
});

test('a fence without a time to wait asks for a second', async () => {
  const { attempt, says } = fakeWorld('ioredis');
  says['spendV2'] = ['before_fence', '1.000000'];
  await expect(attempt()).rejects.toMatchObject({ code: 'proof_before_fence', retryAfterSeconds: 1 });
});

test('each check, and no spend, asks for the eviction policy', async () => {
  const { spend, given } = fakeWorld('ioredis');
  await spend();
  expect([given['touch']?.[5], given['spendV2']?.[5]]).toEqual(['1', '0']);
});

test('a check with an answer that no script gives is refused', async () => {
  const { store, says } = fakeWorld('ioredis');
  says['touch'] = 'OK';
  await expect(store.touch()).rejects.toMatchObject({ code: 'replay_store_unavailable' });
});

test('missing scripts are loaded after the spend that misses them, each time', async () => {
  const { spend, says, sent } = fakeWorld('ioredis');
  for (let time = 1; time <= 2; time += 1) {
    says['spendV2'] = new Error('NOSCRIPT No matching script');
    expect(await spend()).toBe('replay_store_unavailable');
    says['spendV2'] = SPENT;
    expect(await spend()).toBe('spent');
    expect(sent.filter((name) => name === 'SCRIPT')).toHaveLength(Object.keys(REDIS_SCRIPTS).length * time);
  }
});

test('after any other error nothing is loaded, and ready(0) checks once', async () => {
  const { spend, store, says, sent } = fakeWorld('ioredis');
  Object.assign(says, { touch: new Error('LOADING'), spendV2: new Error('LOADING') });
  await expect(store.ready(0)).rejects.toMatchObject({ code: 'replay_store_unavailable' });
  expect(await spend()).toBe('replay_store_unavailable');
  expect(sent).toEqual(['touch', 'touch', 'spendV2']);
});

test.each([-1, Number.NaN])('ready cannot wait for %o ms', async (withinMs) => {
  await expect(fakeWorld('ioredis').store.ready(withinMs)).rejects.toThrow(TypeError);
});

test('a server that does not answer is not waited for', async () => {
  const { spend, store, says } = fakeWorld('ioredis', { timeoutMs: 1 });
  const never = new Promise(() => undefined);
  Object.assign(says, { touch: never, spendV2: never });
  expect(await spend()).toBe('replay_store_unavailable');
  await expect(store.touch()).rejects.toMatchObject({ code: 'replay_store_unavailable' });
});

test('the server is checked every 2 s, and no timer is left once the store is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { spend, store, sent } = fakeWorld('ioredis');
  await vi.advanceTimersByTimeAsync(2000);
  expect(sent).toEqual(['touch', 'touch']);
  expect(await spend()).toBe('spent');
  store.close();
  expect(vi.getTimerCount()).toBe(0);
});
