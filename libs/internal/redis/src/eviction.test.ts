import { once } from 'node:events';
import { createServer } from 'node:net';
import { Secret } from '@ori/runtime/secret';
import { freePort } from '@ori/test-env/ports';
import { startRedis } from '@ori/test-env/redis';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { connectRedis } from './connection.ts';
import { EvictingRedis, type EvictionWatch, watchEviction } from './eviction.ts';
import { startScriptedRedis } from './scripted-redis.fixture.ts';

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
  const onChange = (unsafe?: EvictingRedis) => changes.push(unsafe === undefined ? 'safe' : unsafe.policy);
  const eviction = watchEviction(client, { everyMs, onChange });
  closing.push(() => {
    eviction.close();
    client.disconnect();
  });
  return { client, eviction, changes };
}

const refusal = (eviction: EvictionWatch) => eviction.require().catch((error: unknown) => error);

it('each server is asked again every five seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const client = connectRedis(new Secret(server.url), { purpose: 'test' });
  const eviction = watchEviction(client);
  closing.push(() => {
    eviction.close();
    client.disconnect();
  });
  await eviction.settled();
  await new Promise(setImmediate); // the first question is over
  const asked = vi.spyOn(client, 'info');
  vi.advanceTimersByTime(4999);
  expect(asked).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(asked).toHaveBeenCalledOnce();
});

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
  expect(changes).toEqual(['safe', 'allkeys-lru', 'safe']);
});

it('a new connection is checked before it is used', async () => {
  const { client, eviction } = watch();
  await eviction.settled();
  await admin.config('SET', 'maxmemory-policy', 'volatile-ttl');
  expect(eviction.isSafe).toBe(true);
  const [gone, back] = [once(client, 'close'), once(client, 'ready')];
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await gone;
  expect(eviction.isSafe).toBe(false);
  await back;
  expect(eviction.isSafe).toBe(false);
  expect(await refusal(eviction)).toBeInstanceOf(EvictingRedis);
  expect(client.listenerCount('close')).toBe(1);
});

it('a server that does not say its policy is not used', async () => {
  using scripted = await startScriptedRedis(() => 'used_memory:1');
  const { eviction } = watch(HOUR, `redis://127.0.0.1:${scripted.port}`);
  await eviction.settled();
  expect(await refusal(eviction)).toMatchObject({ code: 'redis_evicts', policy: undefined });
});

it('an answer that tells nothing about the policy changes nothing', async () => {
  let asked = 0;
  using scripted = await startScriptedRedis(([, section]) => {
    if (section !== 'memory') return 'OK';
    asked += 1;
    return asked === 1 ? 'maxmemory_policy:noeviction' : new Error('BUSY');
  });
  const { eviction, changes } = watch(10, `redis://127.0.0.1:${scripted.port}`);
  await expect.poll(() => asked).toBeGreaterThan(2);
  expect(eviction.isSafe).toBe(true);
  expect(changes).toEqual(['safe']);
});

it('a watch does not keep the process running', () => {
  const { client } = watch();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const { close } = watchEviction(client);
  expect(timers()).toBe(before);
  close();
});

it('a closed watch asks no more', async () => {
  const [closed, open] = [watch(10), watch(10)];
  await Promise.all([closed, open].map(({ eviction }) => eviction.settled()));
  closed.eviction.close();
  // A question that it asked before has its answer then.
  await closed.client.ping();
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await expect.poll(() => open.eviction.isUnsafe).toBe(true);
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  await expect.poll(() => open.eviction.isSafe).toBe(true);
  expect(closed.changes).toEqual(['safe']);
});

it('a server that closes each connection settles the question too', async () => {
  const { address } = await serveInTest(createServer((socket) => void socket.end()));
  const { eviction } = watch(HOUR, `redis://${address}`);
  await eviction.settled();
  expect(eviction.isSafe).toBe(false);
});

it('reports a user without the right to check', async () => {
  await admin.call('ACL', 'SETUSER', 'blind', 'on', '>p', '~*', '+@all', '-info');
  const { eviction } = watch(HOUR, server.url.replace('redis://', 'redis://blind:p@'));
  await eviction.settled();
  const explanation = expect.stringContaining('may not run INFO');
  expect(await refusal(eviction)).toMatchObject({ code: 'redis_evicts', policy: undefined, explanation });
});

it.each(['redis://HOST', 'redis+sentinel://HOST/main', 'redis+cluster://HOST'])(
  'without a connection to %s nothing is safe, and nothing is called unsafe',
  async (url) => {
    const { eviction } = watch(HOUR, url.replace('HOST', `127.0.0.1:${await freePort()}`));
    await eviction.settled();
    expect(eviction).toMatchObject({ isSafe: false, isUnsafe: false });
    const error = await refusal(eviction);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(EvictingRedis);
  },
);

it('a connection is asked once before it is used', async () => {
  using scripted = await startScriptedRedis(() => 'maxmemory_policy:noeviction');
  const { client, eviction } = watch(HOUR, `redis://127.0.0.1:${scripted.port}`);
  await once(client, 'ready');
  await eviction.require();
  await eviction.require();
  expect(scripted.asked.filter((command) => command === 'info memory')).toHaveLength(1);
});
