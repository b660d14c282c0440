import { setTimeout as pause } from 'node:timers/promises';
import { connectRedis, onNodeReady, pingRedis, type RedisClient } from '@ori/redis/connection';
import { watchEviction } from '@ori/redis/eviction';
import { Secret } from '@ori/runtime/secret';
import { freePort } from '@ori/test-env/ports';
import { type RedisServer, startRedis } from '@ori/test-env/redis';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createTurnLimiter, turnKey } from './limiter.ts';

const clients: RedisClient[] = [];
function open(url: string): RedisClient {
  const client = connectRedis(new Secret(url), { purpose: 'test' });
  clients.push(client);
  return client;
}

async function ready(client: RedisClient): Promise<RedisClient> {
  if (client.status !== 'ready') await new Promise((resolve) => client.once('ready', resolve));
  return client;
}

/** A connection whose commands have all the time that a busy machine takes. */
function administer(): Redis {
  const client = new Redis(cluster.url);
  clients.push(client);
  return client;
}

let cluster: RedisServer;
beforeAll(async () => {
  // By default the bus port is the port plus 10,000, which another program may use.
  const busPort = String(await freePort());
  cluster = await startRedis({ arguments: ['--cluster-enabled', 'yes', '--cluster-port', busPort] });
  const admin = administer();
  await admin.config('SET', 'cluster-announce-ip', cluster.host, 'cluster-announce-port', cluster.port);
  await admin.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16384 }, (_, slot) => String(slot)));
  await vi.waitFor(
    async () => expect(await admin.call('CLUSTER', 'INFO')).toContain('cluster_state:ok'),
    10_000,
  );
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await cluster[Symbol.asyncDispose]();
});
const url = () => cluster.url.replace('redis:', 'redis+cluster:');

it('a Cluster serves keys of every slot', async () => {
  const client = await ready(open(url()));
  await expect.poll(() => client.set('first', '1').catch(() => undefined)).toBe('OK');
  expect(await Promise.all([client.incr('{a}n'), client.incr('{b}n'), client.incr('{c}n')])).toEqual([
    1, 1, 1,
  ]);
  await expect(client.mget('{a}n', '{b}n')).rejects.toThrow();
});

it('a Cluster is ready while its nodes take writes', async () => {
  const admin = administer();
  const client = await ready(open(url()));
  await expect.poll(() => client.set('first', '1').catch(() => undefined)).toBe('OK');
  await pingRedis(client);
  await admin.config('SET', 'maxmemory', '1');
  const asked = pingRedis(client);
  await expect(asked).rejects.toThrow('OOM');
  await admin.config('SET', 'maxmemory', '0');
  await pingRedis(client);
});

it('a Cluster counts turns exactly, each counter in its own slot', async () => {
  const client = await ready(open(url()));
  await expect.poll(() => client.set('first', '1').catch(() => undefined)).toBe('OK');
  const limiter = createTurnLimiter({
    redis: client,
    turnsPerUser: 10,
    turnsPerOrganization: 25,
    windowSeconds: 60,
  });
  const take = (userId: string) => limiter.take({ userId, organizationId: 'o' });
  const users = ['a', 'b', 'c'].flatMap((user) => Array<string>(20).fill(user));
  const verdicts = await Promise.all(users.map(take));
  const allowed = verdicts.filter((verdict) => verdict.allowed).length;
  expect(allowed).toBeLessThanOrEqual(25);
  expect(await client.get(turnKey('organization', 'o'))).toBe(String(allowed));
});

it('a Cluster prepares every node each time it is ready', async () => {
  const prepared: number[] = [];
  const client = open(url());
  onNodeReady(client, async (node) => void prepared.push(node.options.port ?? 0));
  await ready(client);
  await expect.poll(() => prepared).toContain(cluster.port);
});

it('a Cluster fails at once what it cannot send, and is used again once it is back', async () => {
  const client = await ready(open(url()));
  await expect.poll(() => client.set('n', '1').catch(() => undefined)).toBe('OK');
  await cluster.freeze();
  // Of two timers of one process the shorter one ends first, however busy the machine is.
  const told = client.incr('n').catch(({ message }: Error) => message);
  expect(await Promise.race([told, pause(400, 'late')])).toBe('Command timed out');
  await cluster.thaw();
  await expect.poll(() => client.get('n').catch(() => undefined)).toMatch(/^[12]$/);
});

it('a Cluster fails a command at once before its first connection, and one whose slot no node serves', async () => {
  await expect(open(url()).get('n')).rejects.toThrow("isn't ready");
  const client = await ready(open(url()));
  await expect.poll(() => client.set('n', '1').catch(() => undefined)).toBe('OK');
  const slot = await client.cluster('KEYSLOT', 'n');
  const [node] = client instanceof Cluster ? client.nodes('master') : [];
  await node?.call('CLUSTER', 'DELSLOTS', slot);
  await expect(client.incr('n')).rejects.toThrow('CLUSTERDOWN');
  await node?.call('CLUSTER', 'ADDSLOTS', slot);
});

it('a Cluster is checked node by node: one that evicts makes it unsafe', async () => {
  const admin = administer();
  const client = open(url());
  const eviction = watchEviction(client, { everyMs: 20 });
  await expect.poll(() => eviction.isSafe).toBe(true);
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await expect.poll(() => eviction.isUnsafe).toBe(true);
  await expect(eviction.require()).rejects.toMatchObject({ code: 'redis_evicts', policy: 'allkeys-lru' });
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  await expect.poll(() => eviction.isSafe).toBe(true);
  eviction.close();
});

it.each([
  ['user', { turnsPerUser: 1, turnsPerOrganization: 9 }],
  ['organization', { turnsPerUser: 9, turnsPerOrganization: 1 }],
] as const)(
  'a Cluster tells of the counter of the %s that refuses, whenever it is asked',
  async (scope, limits) => {
    const client = await ready(open(url()));
    await expect.poll(() => client.set('first', '1').catch(() => undefined)).toBe('OK');
    const limiter = createTurnLimiter({ redis: client, ...limits, windowSeconds: 60 });
    const who = { userId: scope, organizationId: scope };
    expect((await limiter.take(who)).allowed).toBe(true);
    for (let asked = 0; asked < 2; asked++) {
      expect(await limiter.take(who)).toMatchObject({ allowed: false, scope });
    }
  },
);

it('a Cluster ends the window of a counter that has none', async () => {
  const client = await ready(open(url()));
  const [userId, organizationId] = ['lasting', 'lasting'];
  await expect.poll(() => client.set(turnKey('user', userId), '1').catch(() => undefined)).toBe('OK');
  const limits = { turnsPerUser: 1, turnsPerOrganization: 9, windowSeconds: 60 };
  const limiter = createTurnLimiter({ redis: client, ...limits });
  expect((await limiter.take({ userId, organizationId })).allowed).toBe(false);
  expect(await client.pttl(turnKey('user', userId))).toBeGreaterThan(0);
});
