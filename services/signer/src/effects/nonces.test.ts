import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { isNonce } from '@ori/proof/wire';
import { connectRedis } from '@ori/redis/connection';
import { Secret } from '@ori/runtime/secret';
import { sharedRedisUrl } from '@ori/test-env/redis';
import { issuedKey, issuedValue } from '@ori/verifier/redis';
import { afterAll, expect, test } from 'vitest';
import { DependencyError } from '../core/dependency-error.ts';
import { memoryNonces } from './memory-nonces.ts';
import { type Nonces, redisNonces } from './nonces.ts';

const redis = connectRedis(new Secret(sharedRedisUrl()), { purpose: 'test' });
await once(redis, 'ready');
afterAll(() => redis.disconnect());

const internId = `int_${randomBytes(8).toString('hex')}`;
const signingInput = Buffer.from('input');

const stores: [string, Nonces][] = [
  ['Redis', redisNonces(redis, 65)],
  ['memory', memoryNonces(65)],
];

// SPEC.md S4.
test.each(stores)('in %s, a nonce is reserved once, for each intern', async (_, nonces) => {
  const nonce = nonces.draw();
  expect(isNonce(nonce)).toBe(true);
  expect(await nonces.reserve({ internId, nonce, signingInput })).toBe(true);
  expect(await nonces.reserve({ internId, nonce, signingInput })).toBe(false);
  expect(await nonces.reserve({ internId, nonce, signingInput: Buffer.from('other') })).toBe(false);
  expect(await nonces.reserve({ internId: `${internId}x`, nonce, signingInput })).toBe(true);
});

test('of two concurrent reservations, one succeeds', async () => {
  for (const [, nonces] of stores) {
    const nonce = nonces.draw();
    const reserved = await Promise.all([1, 2].map(() => nonces.reserve({ internId, nonce, signingInput })));
    expect(reserved.sort()).toEqual([false, true]);
  }
});

test('Redis keeps the digest of the signing input while the proof is valid', async () => {
  const nonces = redisNonces(redis, 65);
  const nonce = nonces.draw();
  await nonces.reserve({ internId, nonce, signingInput });
  const key = issuedKey(internId, nonce);
  expect(await redis.get(key)).toEqual(issuedValue(signingInput));
  expect(await redis.pttl(key)).toBeGreaterThan(60_000);
});

test('memory forgets a nonce only when it has expired', async () => {
  let now = 0;
  const nonces = memoryNonces(65, () => now);
  const reservation = { internId, nonce: nonces.draw(), signingInput };
  expect(await nonces.reserve(reservation)).toBe(true);
  now = 64_999;
  expect(await nonces.reserve(reservation)).toBe(false);
  now = 65_000;
  expect(await nonces.reserve(reservation)).toBe(true);
});

test('an unreachable Redis reserves nothing', async () => {
  const nowhere = connectRedis(new Secret('redis://127.0.0.1:1'), { purpose: 'test' });
  const nonces = redisNonces(nowhere, 65);
  const reserving = nonces.reserve({ internId, nonce: nonces.draw(), signingInput });
  await expect(reserving).rejects.toBeInstanceOf(DependencyError);
  await expect(reserving).rejects.toMatchObject({ dependency: 'redis' });
  nowhere.disconnect();
});
