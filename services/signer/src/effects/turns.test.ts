import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { memorySpentProofs } from '@ori/identity/dpop/memory-spent-proofs';
import { connectRedis, type RedisClient } from '@ori/redis/connection';
import { type EvictionWatch, watchEviction } from '@ori/redis/eviction';
import { Secret } from '@ori/runtime/secret';
import { type RedisServer, sharedRedisUrl, startRedis } from '@ori/test-env/redis';
import { openAdmin } from '@ori/test-env/redis-admin';
import { startTcpProxy } from '@ori/test-env/tcp-proxy';
import { createTurnLimiter, turnKey } from '@ori/turns/limiter';
import { createMemoryTurnLimiter } from '@ori/turns/memory';
import { issuedKey } from '@ori/verifier/redis';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { memoryNonces } from './memory-nonces.ts';
import { redisNonces } from './nonces.ts';
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
const WHENEVER = { from: 0, until: 1e12 };
/** A proof whose nonce is of the current epoch. */
async function proofOf(id: string, { spentProofs }: TurnsOptions = inRedis) {
  await spentProofs.learn();
  return { id, epoch: spentProofs.epoch() ?? '', ...WHENEVER };
}
const memoryLimiter = () => createMemoryTurnLimiter(limits);

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

test('one command does it all, if one Redis has all', async () => {
  const { who, reservation } = subject();
  const turns = limiterTurns(inRedis);
  await turns.take(who, reservation, await proofOf(inRedis.nonces.draw()));
  const proof = await proofOf(inRedis.nonces.draw());
  const sent = vi.spyOn(redis, 'sendCommand');
  await turns.take(who, reservation, proof);
  await turns.take(who, reservation, undefined);
  expect(sent).toHaveBeenCalledTimes(2);
  sent.mockRestore();
});

test('a turn is given back if the nonce cannot be reserved', async () => {
  const { who, reservation } = subject();
  const failure = new Error('not reserved');
  const failing = {
    ...memoryNonces(65),
    reserve: async () => {
      throw failure;
    },
  };
  const turns = limiterTurns({ ...inRedis, limiter: memoryLimiter(), nonces: failing });
  for (let time = 0; time < 3; time += 1)
    await expect(turns.take(who, reservation, undefined)).rejects.toBe(failure);
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
  const proof = await proofOf(options.nonces.draw(), options);
  expect(await turns.take(who, reservation, proof)).toMatchObject({
    verdict: { remaining: 1 },
    reserved: true,
  });
  const other = { ...reservation, nonce: options.nonces.draw() };
  for (const again of [other, undefined]) expect(await turns.take(who, again, proof)).toBe('replayed');
  expect(await options.spentProofs.spend(proof)).toBe('replayed');
  expect(await turns.take(who, other, await proofOf(options.nonces.draw(), options))).toMatchObject({
    verdict: { remaining: 0 },
    reserved: true,
  });
});

test('a DPoP proof is kept for three minutes, longer than Redis takes it', async () => {
  const { who, reservation } = subject();
  const turns = limiterTurns(inRedis);
  for (const reserved of [reservation, undefined]) {
    const proof = await proofOf(inRedis.nonces.draw());
    await turns.take(who, reserved, proof);
    const leftMs = await redis.pttl(`ori:dpop:{spent}:${proof.id}`);
    expect(leftMs).toBeLessThanOrEqual(180_000);
    expect(leftMs).toBeGreaterThan(150_000);
  }
});

test.each(places)('a DPoP proof whose turn is refused is spent: %s', async (_, open) => {
  const { who, reservation } = subject();
  const options = { ...inRedis, ...open() };
  const turns = limiterTurns(options);
  for (const one of ['first', 'second']) {
    expect(await turns.take(who, undefined, await proofOf(reservation.nonce + one, options))).toMatchObject({
      verdict: { allowed: true },
    });
  }
  const proof = await proofOf(reservation.nonce, options);
  expect(await turns.take(who, reservation, proof)).toMatchObject({
    verdict: { allowed: false },
    reserved: false,
  });
  expect(await options.spentProofs.spend(proof)).toBe('replayed');
});

test('a signer that spends nothing learns the epoch of a Redis that was restarted', async () => {
  const server = await startRedis();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const client = await connected(server.url);
  const spentProofs = redisSpentProofs(client);
  await spentProofs.learn();
  await server.restart();
  await expect.poll(spentProofs.epoch).toBeUndefined();
});

test.each(places)('a DPoP proof of another epoch takes no turn and is not spent: %s', async (_, open) => {
  const { who, reservation, turnsTaken } = subject();
  const options = { ...inRedis, ...open() };
  const turns = limiterTurns(options);
  await options.spentProofs.learn();
  const learned = options.spentProofs.epoch();
  await options.spentProofs.learn();
  expect(options.spentProofs.epoch()).toBe(learned);
  const of = (epoch = '') => ({ id: reservation.nonce, epoch, ...WHENEVER });
  for (const one of [reservation, undefined])
    expect(await turns.take(who, one, of('another'))).toBe('forgotten');
  expect(await options.spentProofs.spend(of('another'))).toBe('forgotten');
  expect(await turnsTaken()).toBe(0);
  const taken = { verdict: { remaining: 1 }, reserved: true };
  expect(await turns.take(who, reservation, of(options.spentProofs.epoch()))).toMatchObject(taken);
  expect(await turns.take(who, reservation, of(options.spentProofs.epoch()))).toBe('replayed');
});

test.each(places.slice(0, 3))(
  'a DPoP proof whose nonce is not of the time of Redis takes no turn and is not spent: %s',
  async (_, open) => {
    const { who, reservation, turnsTaken } = subject();
    const options = { ...inRedis, ...open() };
    const turns = limiterTurns(options);
    const proof = await proofOf(reservation.nonce, options);
    const second = Date.now() / 1000;
    // As after the clock of this signer, or of Redis, was wrong and was corrected.
    for (const times of [{ from: second + 100 }, { until: second - 100 }]) {
      const wrong = { ...proof, ...times };
      for (const one of [reservation, undefined]) expect(await turns.take(who, one, wrong)).toBe('forgotten');
      expect(await options.spentProofs.spend(wrong)).toBe('forgotten');
    }
    expect(await turnsTaken()).toBe(0);
    const right = { ...proof, from: second - 100, until: second + 100 };
    expect(await turns.take(who, reservation, right)).toMatchObject({ verdict: { allowed: true } });
  },
);

describe('a new epoch begins', async () => {
  type Event = (server: RedisServer, admin: ReturnType<typeof openAdmin>) => Promise<unknown>;
  const events: [string, 'stays' | 'closes', Event][] = [
    ['a flush', 'stays', (_, admin) => admin.flushall()],
    ['a restart without files', 'closes', (server) => server.restart()],
    [
      'a crash, and a start from a file older than the proofs',
      'closes',
      async (server) => {
        await server.kill();
        await server.start();
      },
    ],
    ['another database in its place', 'stays', (_, admin) => admin.swapdb(0, 1)],
  ];
  test.each(events)('after %s, and a proof of before is not accepted', async (_, connection, lose) => {
    await using server = await startRedis();
    const admin = openAdmin(server.url);
    onTestFinished(() => admin.disconnect());
    const client = await connected(server.url);
    // Not events.once, which an error in between would reject.
    const happened = (event: 'close' | 'ready') =>
      new Promise<void>((resolve) => client.once(event, resolve));
    const { who, reservation } = subject(client);
    const options = partsIn(client);
    const turns = limiterTurns(options);
    const proof = await proofOf(reservation.nonce, options);
    await admin.save();
    expect(await turns.take(who, reservation, proof)).toMatchObject({ reserved: true });
    const isBack = connection === 'stays' ? undefined : happened('close').then(() => happened('ready'));
    await lose(server, admin);
    await isBack;
    expect(await turns.take(who, reservation, proof)).toBe('forgotten');
    await options.spentProofs.learn();
    const renewed = options.spentProofs.epoch() ?? '';
    expect(renewed).not.toBe(proof.epoch);
    expect(await turns.take(who, undefined, { ...proof, epoch: renewed })).toMatchObject({
      verdict: { allowed: true },
    });
  });
});

test('a replica that lacks the last writes accepts none of their DPoP proofs when it is promoted', async () => {
  await using primary = await startRedis({ arguments: ['--repl-diskless-sync-delay', '0'] });
  await using replica = await startRedis();
  await using link = await startTcpProxy(primary.port);
  const [before, after] = [await connected(primary.url), await connected(replica.url)];
  await after.replicaof('127.0.0.1', link.port);
  const options = partsIn(before);
  await options.spentProofs.learn();
  await expect.poll(() => before.wait(1, 100)).toBe(1);

  link.set('silent');
  const { who, reservation } = subject(before);
  const proof = { id: reservation.nonce, epoch: options.spentProofs.epoch() ?? '', ...WHENEVER };
  expect(await limiterTurns(options).take(who, reservation, proof)).toMatchObject({ reserved: true });
  await primary.kill();
  await after.replicaof('NO', 'ONE');

  // The proof, the turn and the nonce are lost.
  expect(await after.keys('*')).toHaveLength(1);
  expect(await limiterTurns(partsIn(after)).take(who, reservation, proof)).toBe('forgotten');
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
    const taking = turns.take(who, isWithNonce ? reservation : undefined, {
      id: 'proof',
      epoch: 'epoch',
      ...WHENEVER,
    });
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
    const taking = turns.take(who, isWithNonce ? reservation : undefined, {
      id: 'proof',
      epoch: 'epoch',
      ...WHENEVER,
    });
    await expect(taking).rejects.toMatchObject({ dependency: 'redis' });
    expect(await client.dbsize()).toBe(0);
    eviction.close();
  },
);
