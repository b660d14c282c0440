import { once } from 'node:events';
import { freePort } from '@ori/test-env/ports';
import { startRedis } from '@ori/test-env/redis';
import { connect, daemonOn, reserve } from '@ori/test-env/verifier/redis-world';
import { Cluster, type Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createLocalKeySet } from '../../keys/local.ts';
import { createVerifier } from '../../verifier.ts';
import { redisReplayStore } from './store.ts';

/** Two primaries that share the slots, and a client of both. */
async function startCluster() {
  const servers = [];
  for (const slots of [
    ['0', '8191'],
    ['8192', '16383'],
  ]) {
    // By default the bus port is the port plus 10,000, which another program may use.
    const busPort = String(await freePort());
    const server = await startRedis({
      arguments: ['--cluster-enabled', 'yes', '--cluster-port', busPort, '--cluster-node-timeout', '2000'],
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const redis = await connect(server.url);
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', ...slots);
    servers.push({ server, redis, busPort });
  }
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('no servers');
  await second.redis.call('CLUSTER', 'SET-CONFIG-EPOCH', '2');
  await first.redis.call('CLUSTER', 'MEET', '127.0.0.1', String(second.server.port), second.busPort);
  for (const { redis } of servers) {
    await expect.poll(() => redis.call('CLUSTER', 'INFO')).toContain('cluster_state:ok');
  }
  const cluster = new Cluster(
    servers.map(({ server }) => ({ host: server.host, port: server.port })),
    {
      enableOfflineQueue: false,
      redisOptions: { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
    },
  );
  onTestFinished(() => cluster.disconnect());
  await once(cluster, 'ready');
  return { servers, cluster };
}

test.each(['spend', 'redeem'] as const)(
  'a proof is accepted once on a Redis Cluster, whichever node its intern is on: %s',
  async (mode) => {
    const { servers, cluster } = await startCluster();
    const nodes = new Set<Redis>();
    for (let index = 0; index < 50 && nodes.size < 2; index += 1) {
      // The intern is on one of the two nodes; the other one redirects the request.
      for (const { redis } of servers) {
        const world = await daemonOn(redis).catch(() => undefined);
        if (world === undefined) continue;
        nodes.add(redis);
        const replay = redisReplayStore(cluster, { mode, timeoutMs: 5000 });
        onTestFinished(() => replay.close());
        const keys = createLocalKeySet(world.signer.jwks);
        const verifier = createVerifier({ internId: world.internId, keys, replay });
        await replay.touch();
        const signed = world.request();
        if (mode === 'redeem') await reserve(redis, world.internId, signed);
        await expect(verifier.verify(signed)).resolves.toBeDefined();
        await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
      }
    }
    expect(nodes.size).toBe(2);
  },
);

test.each<[string, object, RegExp]>([
  ['queues', {}, /enableOfflineQueue: false/],
  ['adds a prefix', { enableOfflineQueue: false, keyPrefix: 'x:', redisOptions: {} }, /no keyPrefix/],
  [
    'adds a prefix on each node',
    { enableOfflineQueue: false, redisOptions: { keyPrefix: 'x:' } },
    /no keyPrefix/,
  ],
])('a cluster client that %s is refused', (_what, options, words) => {
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true, ...options });
  expect(() => redisReplayStore(cluster, { mode: 'spend' })).toThrow(words);
});
