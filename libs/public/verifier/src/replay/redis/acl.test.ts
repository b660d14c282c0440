import { sharedRedisUrl, startRedis } from '@ori/test-env/redis';
import { connect, daemonOn, headerOf, reserve, userOf } from '@ori/test-env/verifier/redis-world';
import { expect, onTestFinished, test } from 'vitest';
import { createLocalKeySet } from '../../keys/local.ts';
import { createVerifier } from '../../verifier.ts';
import { issuedKey, loadRedisScripts } from './reservation.ts';
import { redisReplayStore } from './store.ts';

test.each(['spend', 'redeem'] as const)(
  'the ACL of the README is enough for a daemon that may %s',
  async (mode) => {
    const admin = await connect(sharedRedisUrl());
    await loadRedisScripts(admin);
    const { internId, request, verifierOn } = await daemonOn(admin);
    const redis = await userOf(mode === 'spend' ? 'ori-spending' : 'ori-redeeming', admin, internId);
    const { verifier, replay } = verifierOn(redis, { mode });
    await replay.touch();
    const signed = request();
    await reserve(admin, internId, signed);
    await expect(verifier.verify(signed)).resolves.toBeDefined();
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
    const nonce = headerOf(signed, 'x-ori-invoke-nonce');
    const policy = { internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
    const call = { policy, user: 'ada', nonce, timestamp: 0, nowMs: Date.now() };
    await replay.answers.keep(call, 'too_large');
    expect(await replay.answers.ask(call)).toBe('lost');
  },
);

test('the ACL of the README is enough for a daemon that accepts version 1', async () => {
  const admin = await connect(sharedRedisUrl());
  await loadRedisScripts(admin);
  const { internId, key, signer } = await daemonOn(admin);
  const replay = redisReplayStore(await userOf('ori-spending', admin, internId), { mode: 'spend' });
  onTestFinished(() => replay.close());
  createVerifier({ internId, keys: createLocalKeySet(signer.jwks), replay, acceptV1: true });
  await replay.ready();
  expect(await admin.zscore(key, 'v1')).not.toBeNull();
});

test.each(['ori-spending', 'ori-redeeming'] as const)('the user %s has no other access', async (line) => {
  const admin = await connect(sharedRedisUrl());
  await loadRedisScripts(admin);
  const { internId, verifierOn } = await daemonOn(admin);
  const other = await daemonOn(admin);
  const redis = await userOf(line, admin, internId);
  const denied: [string, ...string[]][] = [
    ['EVAL', 'return 1', '0'],
    ...(line === 'ori-redeeming' ? [['SCRIPT', 'LOAD', 'return 1'] as [string, ...string[]]] : []),
    ['SCRIPT', 'FLUSH'],
    ['SET', issuedKey(internId, 'n'), 'x'],
    ['GET', issuedKey(other.internId, 'n')],
    ['ZSCORE', other.key, 'floor'],
    ['FLUSHALL'],
    ['CONFIG', 'GET', '*'],
    ['KEYS', '*'],
  ];
  for (const [command, ...args] of denied) {
    await expect(redis.call(command, ...args), command).rejects.toThrow(/^NOPERM/);
  }
  await expect(verifierOn(redis).replay.touch()).resolves.toBeUndefined();
});

test('a daemon that may spend needs no signer on its own Redis', async () => {
  const own = await startRedis();
  onTestFinished(() => own[Symbol.asyncDispose]());
  const admin = await connect(own.url);
  const { internId, request, verifierOn, replay: administrators } = await daemonOn(admin);
  const redis = await userOf('ori-spending', admin, internId, own.url);
  // It would load the scripts instead of the user.
  administrators.close();
  await admin.script('FLUSH');
  const { verifier, replay } = verifierOn(redis);
  await replay.ready();
  await expect(verifier.verify(request())).resolves.toBeDefined();
});

test('a user that cannot load scripts is refused while they are missing, and served once the signer loaded them', async () => {
  const own = await startRedis();
  onTestFinished(() => own[Symbol.asyncDispose]());
  const admin = await connect(own.url);
  const { internId, request, verifierOn, replay: administrators } = await daemonOn(admin);
  administrators.close();
  await admin.call(
    'ACL',
    'SETUSER',
    'daemon',
    'on',
    '>secret',
    `~ori:{${internId}}:spent`,
    '-@all',
    '+evalsha',
    '+info',
    '+time',
    '+zscore',
    '+zadd',
    '+zrem',
    '+zrangebyscore',
  );
  const redis = await connect(own.url, { username: 'daemon', password: 'secret' });
  await admin.script('FLUSH');
  const { verifier, replay } = verifierOn(redis);
  await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unavailable' });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unavailable' });
  await loadRedisScripts(admin);
  await expect(verifier.verify(request())).resolves.toBeDefined();
});
