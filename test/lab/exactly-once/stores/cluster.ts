import { spentKey } from '../../../../libs/public/verifier/src/replay/redis/keys.ts';
import { type ClusterNode, type RedisCluster, startRedisCluster } from '../../../env/redis-cluster.ts';
import { until } from '../../../env/until.ts';
import type { Place } from '../repertoire.ts';
import type { Fault, World } from '../stage.ts';
import { VERIFIER_FAULTS } from './any-store.ts';
import { TIMEOUT_MS } from './redis-single.ts';

/** Three primaries with a replica each; the intern's key is on one of them. */
export async function clusterWorld({ internId }: Place): Promise<World> {
  const cluster = await startRedisCluster({ replicas: 1 });
  return {
    store: { kind: 'redis', url: cluster.url, replicas: 1, timeoutMs: TIMEOUT_MS },
    faults: { ...VERIFIER_FAULTS, ...clusterFaults(cluster, spentKey(internId)) },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

function clusterFaults(cluster: RedisCluster, key: string): Readonly<Record<string, Fault>> {
  const owner = () => cluster.ownerOf(key);
  const replicaOf = async ({ admin }: ClusterNode): Promise<ClusterNode> => {
    const port = Number(/slave0:ip=[^,]*,port=(\d+)/.exec(await admin.info('replication'))?.[1]);
    const node = cluster.nodes.find(({ server }) => server.port === port);
    if (!node) throw new Error('the owner has no replica');
    return node;
  };
  const promoted = ({ admin }: ClusterNode) =>
    until('no election', async () => (await admin.info('replication')).includes('role:master'));
  return {
    async 'node lost'({ worst, random, pause }) {
      const lost = await owner();
      const heir = await replicaOf(lost);
      await lost.server.kill();
      await promoted(heir);
      worst();
      await pause(random.between(0, 500));
      await lost.server.start();
      await cluster.whole();
    },

    async 'node frozen, then resumed'({ worst, random, pause }) {
      const lost = await owner();
      const heir = await replicaOf(lost);
      await lost.server.freeze();
      await promoted(heir);
      await pause(random.between(0, 500));
      await lost.server.thaw();
      worst();
      await cluster.whole();
    },

    async 'failover by command'({ worst, random }) {
      const heir = await replicaOf(await owner());
      await heir.admin.call('CLUSTER', 'FAILOVER', ...random.pick([[], ['FORCE'], ['TAKEOVER']]));
      await promoted(heir);
      worst();
      await cluster.whole();
    },

    async 'lagging replica takes over'({ worst, random, pause }) {
      const lost = await owner();
      const heir = await replicaOf(lost);
      await heir.server.freeze();
      await pause(random.between(100, 400));
      await lost.server.kill();
      await heir.server.thaw();
      await promoted(heir);
      worst();
      await lost.server.start();
      await cluster.whole();
    },

    async 'replica lost'({ pause, refuses }) {
      const lost = await replicaOf(await owner());
      await lost.server.kill();
      await pause(300);
      await refuses(100, 500);
      await lost.server.start();
      await cluster.whole();
    },

    async 'another node lost'({ random, pause }) {
      const own = await owner();
      const replica = await replicaOf(own);
      const lost = random.pick(cluster.nodes.filter((node) => node !== own && node !== replica));
      await lost.server.kill();
      await pause(random.between(100, 1000));
      await lost.server.start();
      await cluster.whole();
    },

    /** The key, including its fence, moves to another primary and back. */
    async 'slot moved'({ worst, pause, random }) {
      const from = await owner();
      const roles = await Promise.all(cluster.nodes.map(({ admin }) => admin.info('replication')));
      const others = cluster.nodes.filter(
        (node, index) => node !== from && roles[index]?.includes('role:master'),
      );
      const to = random.pick(others);
      await moveSlot(cluster, key, from, to);
      worst();
      await pause(random.between(0, 1000));
      await moveSlot(cluster, key, to, from);
      worst();
      await cluster.whole();
    },

    async FLUSHALL({ worst }) {
      await (await owner()).admin.flushall();
      worst();
    },
  };
}

async function moveSlot(
  cluster: RedisCluster,
  key: string,
  from: ClusterNode,
  to: ClusterNode,
): Promise<void> {
  const slot = String(await from.admin.call('CLUSTER', 'KEYSLOT', key));
  await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
  await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
  await from.admin.call('MIGRATE', '127.0.0.1', String(to.server.port), key, '0', '5000');
  for (const { admin } of [to, from, ...cluster.nodes.filter((node) => node !== to && node !== from)]) {
    await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id).catch(() => undefined);
  }
}
