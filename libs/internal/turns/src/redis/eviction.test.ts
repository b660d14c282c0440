import { once } from 'node:events';
import { Secret } from '@ori/runtime/secret';
import { freePort } from '@ori/test-env/ports';
import { startRedis } from '@ori/test-env/redis';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { connectRedis } from './connection.ts';
import { EvictingRedis, type EvictionWatch, watchEviction } from './eviction.ts';

const HOUR = 3_600_000;

const server = await startRedis();
const admin = new Redis(server.url);
afterAll(async () => {
  admin.disconnect();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => admin.config('SET', 'maxmemory-policy', 'noeviction'));

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function watch(everyMs = HOUR, url = server.url) {
  const client = connectRedis(new Secret(url), {
    purpose: 'test',
    commandTimeoutMs: 10_000,
    socketTimeoutMs: 10_000,
  });
  const changes: (string | undefined)[] = [];
  const eviction = watchEviction(client, { everyMs, onChange: (unsafe) => changes.push(unsafe?.policy) });
  closing.push(() => {
    eviction.close();
    client.disconnect();
  });
  return { client, eviction, changes };
}

const refusal = (eviction: EvictionWatch) => eviction.require().catch((error: unknown) => error);

it('a server that evicts nothing is safe from its first answer on', async () => {
  const { eviction } = watch();
  expect(eviction.isSafe).toBe(false);
  await eviction.settled();
  expect(eviction).toMatchObject({ isSafe: true, isUnsafe: false });
  await eviction.require();
});

it.each([
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
])('a server under %s is not used', async (policy) => {
  await admin.config('SET', 'maxmemory-policy', policy);
  const { eviction } = watch();
  await eviction.settled();
  expect(eviction).toMatchObject({ isSafe: false, isUnsafe: true });
  expect(await refusal(eviction)).toMatchObject({ code: 'redis_evicts', policy });
});

it('a policy that is changed while a service runs is noticed, and so is its return', async () => {
  const { eviction, changes } = watch(10);
  await eviction.settled();
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await expect.poll(() => eviction.isUnsafe).toBe(true);
  expect(await refusal(eviction)).toBeInstanceOf(EvictingRedis);
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  await expect.poll(() => eviction.isSafe).toBe(true);
  expect(changes).toEqual([undefined, 'allkeys-lru', undefined]);
});

it('a new connection is checked before it is used', async () => {
  const { client, eviction } = watch();
  await eviction.settled();
  await admin.config('SET', 'maxmemory-policy', 'volatile-ttl');
  expect(eviction.isSafe).toBe(true);
  const back = once(client, 'ready');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await back;
  expect(eviction.isSafe).toBe(false);
  expect(await refusal(eviction)).toBeInstanceOf(EvictingRedis);
});

it('reports a user without the right to check', async () => {
  await admin.call('ACL', 'SETUSER', 'blind', 'on', '>p', '~*', '+@all', '-info');
  const { eviction } = watch(HOUR, server.url.replace('redis://', 'redis://blind:p@'));
  await eviction.settled();
  expect(await refusal(eviction)).toMatchObject({ code: 'redis_evicts', policy: undefined });
});

it('without a connection nothing is safe, and nothing is called unsafe', async () => {
  const { eviction } = watch(HOUR, `redis://127.0.0.1:${await freePort()}`);
  await eviction.settled();
  expect(eviction).toMatchObject({ isSafe: false, isUnsafe: false });
  expect(await refusal(eviction)).not.toBeInstanceOf(EvictingRedis);
});
