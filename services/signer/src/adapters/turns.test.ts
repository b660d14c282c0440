import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { memorySpentProofs } from '@ori/dpop';
import { connectRedis, type RedisClient } from '@ori/redis';
import { type EvictionWatch, watchEviction } from '@ori/redis/eviction';
import { Secret } from '@ori/runtime/secret';
import { sharedRedisUrl, startRedis } from '@ori/test-env/redis';
import { createTurnLimiter, turnKey } from '@ori/turns';
import { issuedKey } from '@ori/verifier/redis';
import { afterAll, expect, test } from 'vitest';
import { memoryNonces, redisNonces } from './nonces.ts';
import { redisSpentProofs } from './spent-proofs.ts';
import { limiterTurns, type TurnsOptions } from './turns.ts';

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
const partsIn = (client: RedisClient, eviction?: EvictionWatch): TurnsOptions => ({
  limiter: createTurnLimiter({ redis: client, ...limits }),
  nonces: redisNonces(client, 65),
  spentProofs: redisSpentProofs(client, eviction),
  eviction,
});
const inRedis = partsIn(redis);
const memoryLimiter = () => createTurnLimiter({ memory: true, ...limits });

test('a turn is counted with its nonce reserved, if one Redis has both', async () => {
  const { who, reservation, turnsTaken, isIssued } = subject();
  const turns = limiterTurns(inRedis);
  expect(await turns.take(who, reservation, undefined)).toMatchObject({
    verdict: { allowed: true },
    reserved: true,
  });
  expect(await turnsTaken()).toBe(1);
  expect(await isIssued(reservation.nonce)).toBe(true);
});

const places: [string, () => Partial<TurnsOptions>][] = [
  ['all in one Redis', () => ({})],
  ['turns in Redis, nonces in memory', () => ({ nonces: memoryNonces(65) })],
  ['turns in memory, nonces in Redis', () => ({ limiter: memoryLimiter() })],
  ['turns and nonces in Redis, proofs in memory', () => ({ spentProofs: memorySpentProofs() })],
];

test.each(places)('no nonce is reserved twice, and none without a turn: %s', async (_, open) => {
  const { who, reservation } = subject();
  const options = { ...inRedis, ...open() };
  const turns = limiterTurns(options);
  const take = (one = reservation) => turns.take(who, one, undefined);
  expect(await take()).toMatchObject({ verdict: { allowed: true }, reserved: true });
  expect(await take()).toMatchObject({ verdict: { allowed: true }, reserved: false });
  const late = { ...reservation, nonce: options.nonces.draw() };
  expect(await take(late)).toMatchObject({ verdict: { allowed: false }, reserved: false });
  expect(await options.nonces.reserve(late)).toBe(true);
});

test.each(places)('a DPoP proof is spent once, and a replayed one changes nothing: %s', async (_, open) => {
  const { who, reservation } = subject();
  const options = { ...inRedis, ...open() };
  const turns = limiterTurns(options);
  const id = options.nonces.draw();
  expect(await turns.take(who, reservation, id)).toMatchObject({ verdict: { remaining: 1 }, reserved: true });
  const other = { ...reservation, nonce: options.nonces.draw() };
  for (const again of [other, undefined]) expect(await turns.take(who, again, id)).toBeUndefined();
  expect(await options.spentProofs.spend(id)).toBe(false);
  expect(await turns.take(who, other, options.nonces.draw())).toMatchObject({
    verdict: { remaining: 0 },
    reserved: true,
  });
});

test.each(places)('a DPoP proof whose turn is refused is spent: %s', async (_, open) => {
  const { who, reservation } = subject();
  const options = { ...inRedis, ...open() };
  const turns = limiterTurns(options);
  for (const one of ['first', 'second']) {
    expect(await turns.take(who, undefined, reservation.nonce + one)).toMatchObject({
      verdict: { allowed: true },
    });
  }
  expect(await turns.take(who, reservation, reservation.nonce)).toMatchObject({
    verdict: { allowed: false },
    reserved: false,
  });
  expect(await options.spentProofs.spend(reservation.nonce)).toBe(false);
});

test('a version 1 proof takes a turn and reserves nothing', async () => {
  const { who, reservation, turnsTaken, isIssued } = subject();
  const turns = limiterTurns(inRedis);
  expect(await turns.take(who, undefined, undefined)).toMatchObject({
    verdict: { allowed: true },
    reserved: false,
  });
  expect(await turnsTaken()).toBe(1);
  expect(await isIssued(reservation.nonce)).toBe(false);
});

test.each([true, false])(
  'an unreachable Redis is a failed dependency (with a nonce: %s)',
  async (isWithNonce) => {
    const nowhere = connectRedis(new Secret('redis://127.0.0.1:1'), { purpose: 'test' });
    clients.push(nowhere);
    const { who, reservation } = subject();
    const turns = limiterTurns(partsIn(nowhere));
    const taking = turns.take(who, isWithNonce ? reservation : undefined, 'proof');
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
    const turns = limiterTurns(partsIn(client, eviction));
    const taking = turns.take(who, isWithNonce ? reservation : undefined, 'proof');
    await expect(taking).rejects.toMatchObject({ dependency: 'redis' });
    expect(await client.dbsize()).toBe(0);
    eviction.close();
  },
);
