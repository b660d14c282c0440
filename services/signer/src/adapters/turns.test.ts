import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connectRedis, type RedisClient } from '@ori/redis';
import { watchEviction } from '@ori/redis/eviction';
import { Secret } from '@ori/runtime/secret';
import { sharedRedisUrl, startRedis } from '@ori/test-env/redis';
import { createTurnLimiter, turnKey } from '@ori/turns';
import { issuedKey } from '@ori/verifier/redis';
import { afterAll, expect, test } from 'vitest';
import { memoryNonces, redisNonces } from './nonces.ts';
import { limiterTurns } from './turns.ts';

const clients: RedisClient[] = [];
afterAll(() => {
  for (const client of clients) client.disconnect();
});

async function connected(url: string): Promise<RedisClient> {
  const client = connectRedis(new Secret(url), { purpose: 'test' });
  clients.push(client);
  await once(client, 'ready');
  return client;
}

const redis = await connected(sharedRedisUrl());

/** A new user, organization and intern, and their state in Redis. */
function subject(client = redis) {
  const id = () => randomBytes(8).toString('hex');
  const who = { userId: `user_${id()}`, organizationId: `org_${id()}` };
  const internId = `int_${id()}`;
  return {
    who,
    reservation: { internId, nonce: memoryNonces(65).draw(), signingInput: Buffer.from('input') },
    turnsTaken: async () => Number(await client.get(turnKey('user', who.userId))),
    isIssued: async (nonce: string) => (await client.exists(issuedKey(internId, nonce))) === 1,
  };
}

const limits = { turnsPerUser: 2, turnsPerOrganization: 10, windowSeconds: 60 };
const limiterInRedis = createTurnLimiter({ redis, ...limits });
const memoryLimiter = () => createTurnLimiter({ memory: true, ...limits });

test('a turn is counted with its nonce reserved, if one Redis has both', async () => {
  const { who, reservation, turnsTaken, isIssued } = subject();
  const turns = limiterTurns(limiterInRedis, redisNonces(redis, 65));
  expect(await turns.take(who, reservation)).toMatchObject({ verdict: { allowed: true }, reserved: true });
  expect(await turnsTaken()).toBe(1);
  expect(await isIssued(reservation.nonce)).toBe(true);
});

test.each([
  ['in one Redis', () => limiterInRedis, () => redisNonces(redis, 65)],
  ['turns in Redis, nonces in memory', () => limiterInRedis, () => memoryNonces(65)],
  ['turns in memory, nonces in Redis', () => memoryLimiter(), () => redisNonces(redis, 65)],
])('no nonce is reserved twice, and none without a turn: %s', async (_, limiter, open) => {
  const { who, reservation } = subject();
  const nonces = open();
  const turns = limiterTurns(limiter(), nonces);
  expect(await turns.take(who, reservation)).toMatchObject({ verdict: { allowed: true }, reserved: true });
  expect(await turns.take(who, reservation)).toMatchObject({ verdict: { allowed: true }, reserved: false });
  const late = { ...reservation, nonce: nonces.draw() };
  expect(await turns.take(who, late)).toMatchObject({ verdict: { allowed: false }, reserved: false });
  expect(await nonces.reserve(late)).toBe(true);
});

test('a version 1 proof takes a turn and reserves nothing', async () => {
  const { who, reservation, turnsTaken, isIssued } = subject();
  const turns = limiterTurns(limiterInRedis, redisNonces(redis, 65));
  expect(await turns.take(who, undefined)).toMatchObject({ verdict: { allowed: true }, reserved: false });
  expect(await turnsTaken()).toBe(1);
  expect(await isIssued(reservation.nonce)).toBe(false);
});

test.each([true, false])(
  'an unreachable Redis is a failed dependency (with a nonce: %s)',
  async (isWithNonce) => {
    const nowhere = connectRedis(new Secret('redis://127.0.0.1:1'), { purpose: 'test' });
    clients.push(nowhere);
    const { who, reservation } = subject();
    const turns = limiterTurns(createTurnLimiter({ redis: nowhere, ...limits }), redisNonces(nowhere, 65));
    const taking = turns.take(who, isWithNonce ? reservation : undefined);
    await expect(taking).rejects.toMatchObject({ name: 'DependencyError', dependency: 'redis' });
  },
);

test.each([true, false])(
  'a Redis that may evict gets no commands (with a nonce: %s)',
  async (isWithNonce) => {
    await using server = await startRedis({ arguments: ['--maxmemory-policy', 'allkeys-lru'] });
    const client = await connected(server.url);
    const eviction = watchEviction(client);
    await eviction.settled();
    const { who, reservation } = subject(client);
    const turns = limiterTurns(
      createTurnLimiter({ redis: client, ...limits }),
      redisNonces(client, 65),
      eviction,
    );
    const taking = turns.take(who, isWithNonce ? reservation : undefined);
    await expect(taking).rejects.toMatchObject({ dependency: 'redis' });
    expect(await client.dbsize()).toBe(0);
    eviction.close();
  },
);
