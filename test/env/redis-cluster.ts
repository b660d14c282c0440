import type { Redis } from 'ioredis';
import { freePort } from './ports.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { hasReplicas, openAdmin } from './redis-admin.ts';
import { until } from './until.ts';

const SLOTS = 16_384;

export interface ClusterNode {
  readonly server: RedisServer;
  /** Waits for its server without a time limit. */
  readonly admin: Redis;
  readonly id: string;
}

export interface RedisCluster extends AsyncDisposable {
  /** For the clients of the services, which understand Cluster addresses. */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  /** The node that serves a key's slot, according to the majority. */
  ownerOf(key: string): Promise<ClusterNode>;
  /** Waits until every slot has a primary, every primary has `replicas` fresh followers, and every node knows it. */
  whole(): Promise<void>;
}

/** Three primaries that share the slots, each with `replicas` followers; a node counts as failed after `nodeTimeoutMs`. */
export async function startRedisCluster({ replicas = 0, nodeTimeoutMs = 1000 } = {}): Promise<RedisCluster> {
  const stack = new AsyncDisposableStack();
  try {
    const nodes: (ClusterNode & { busPort: number })[] = [];
    for (let index = 0; index < 3 * (1 + replicas); index += 1) {
      nodes.push(await startNode(stack, nodeTimeoutMs));
    }
    const primaries = nodes.slice(0, 3);
    for (const [index, { admin }] of primaries.entries()) {
      const [from, to] = [Math.floor((SLOTS * index) / 3), Math.floor((SLOTS * (index + 1)) / 3) - 1];
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
      await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
    }
    const [first] = nodes;
    if (!first) throw new Error('no nodes');
    for (const { server, busPort } of nodes.slice(1)) {
      await first.admin.call('CLUSTER', 'MEET', '127.0.0.1', String(server.port), String(busPort));
    }
    await until('the nodes of the Redis Cluster do not know of each other', async () => {
      const known = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'NODES')));
      return known.every((text) => String(text).trim().split('\n').length === nodes.length);
    });
    for (const [index, { admin }] of nodes.slice(3).entries()) {
      await admin.call('CLUSTER', 'REPLICATE', primaries[index % 3]?.id ?? '');
    }

    const cluster: RedisCluster = {
      url: `redis+cluster://${primaries.map(({ server }) => `127.0.0.1:${server.port}`).join(',')}`,
      nodes,
      async ownerOf(key) {
        const votes = new Map<string, number>();
        for (const { admin } of nodes) {
          const id = await slotOwner(admin, key).catch(() => undefined);
          if (id !== undefined) votes.set(id, (votes.get(id) ?? 0) + 1);
        }
        const [winner] = [...votes].sort(([, less], [, more]) => more - less)[0] ?? [];
        const owner = nodes.find(({ id }) => id === winner);
        if (!owner) throw new Error(`no node serves ${key}`);
        return owner;
      },
      whole: () =>
        until('the Redis Cluster is not whole', async () => {
          const states = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'INFO')));
          const views = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'NODES')));
          const roles = await Promise.all(nodes.map(({ admin }) => admin.info('replication')));
          return (
            states.every((text) => String(text).includes('cluster_state:ok')) &&
            views.every((text) => !/fail|handshake|noaddr/.test(String(text))) &&
            roles.filter((text) => text.includes('role:master')).length === 3 &&
            roles.every((text) => !text.includes('role:master') || hasReplicas(text, replicas))
          );
        }),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
    await cluster.whole();
    return cluster;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function startNode(stack: AsyncDisposableStack, nodeTimeoutMs: number) {
  // By default the bus port is the port plus 10,000, which another program may use.
  const busPort = await freePort();
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': String(busPort),
    'cluster-node-timeout': String(nodeTimeoutMs),
    'cluster-replica-validity-factor': '0',
    'repl-diskless-sync-delay': '0',
    'enable-debug-command': 'yes',
  };
  const server = stack.use(
    await startRedis({
      arguments: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    }),
  );
  const admin = openAdmin(server.url, { commandTimeout: 1000 });
  stack.defer(() => admin.disconnect());
  return { server, admin, busPort, id: String(await admin.call('CLUSTER', 'MYID')) };
}

async function slotOwner(admin: Redis, key: string): Promise<string | undefined> {
  const slot = Number(await admin.call('CLUSTER', 'KEYSLOT', key));
  const ranges = (await admin.call('CLUSTER', 'SLOTS')) as [number, number, [string, number, string]][];
  return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][2];
}
