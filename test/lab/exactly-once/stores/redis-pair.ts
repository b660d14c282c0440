import type { Redis } from 'ioredis';
import { type RedisServer, startRedis } from '../../../env/redis.ts';
import { hasReplicas, openAdmin } from '../../../env/redis-admin.ts';
import { startTcpProxy, type TcpProxy } from '../../../env/tcp-proxy.ts';
import { until } from '../../../env/until.ts';
import type { Fault, World } from '../stage.ts';
import { VERIFIER_FAULTS } from './any-store.ts';
import { redisServerFaults } from './redis-server-faults.ts';
import { TIMEOUT_MS } from './redis-single.ts';

interface Member {
  readonly server: RedisServer;
  readonly admin: Redis;
  /** What the other member replicates through. */
  readonly link: TcpProxy;
}

/** A primary and a replica, and an operator who promotes by hand, without automatic failover. */
export async function redisPair(): Promise<World> {
  const stack = new AsyncDisposableStack();
  const open = async (): Promise<Member> => {
    const options = [
      '--repl-diskless-sync-delay',
      '0',
      '--enable-debug-command',
      'yes',
      '--repl-timeout',
      '60',
    ];
    const server = stack.use(await startRedis({ arguments: options }));
    const admin = openAdmin(server.url);
    stack.defer(() => admin.disconnect());
    return { server, admin, link: stack.use(await startTcpProxy(server.port)) };
  };
  let [primary, replica] = [await open(), await open()];

  const follow = (follower: Member, { link }: Member): Promise<unknown> =>
    follower.admin.replicaof('127.0.0.1', link.port);
  const promote = ({ admin }: Member): Promise<unknown> => admin.replicaof('NO', 'ONE');
  const whole = () =>
    until('the replica does not follow', async () => hasReplicas(await primary.admin.info('replication'), 1));
  /** How much of the stream of writes a member has. */
  const offsetOf = async ({ admin }: Member): Promise<number> =>
    Number(/master_repl_offset:(\d+)/.exec(await admin.info('replication'))?.[1]);
  const swap = (): void => {
    [primary, replica] = [replica, primary];
  };

  const faults: Record<string, Fault> = {
    async 'primary killed, replica promoted'(stage) {
      await primary.server.kill();
      await promote(replica);
      swap();
      await stage.moveAll(primary.server.url);
      await replica.server.start();
      await follow(replica, primary);
      await whole();
    },

    /** The replica lacks everything that was written while the link was silent: a frozen one would find it in its socket. */
    async 'lagging replica promoted'(stage) {
      const { link } = primary;
      link.set('silent');
      const safe = stage.unsafe();
      await stage.pause(stage.random.between(200, 1500));
      safe();
      if ((await offsetOf(primary)) <= (await offsetOf(replica)))
        throw new Error('the replica lacks nothing');
      const kills = stage.random.chance(0.5);
      if (kills) await primary.server.kill();
      else await primary.server.freeze();
      await promote(replica);
      link.cut();
      link.set('open');
      swap();
      stage.worst();
      await stage.moveAll(primary.server.url);
      if (kills) await replica.server.start();
      else await replica.server.thaw();
      stage.worst();
      await follow(replica, primary);
      await whole();
    },

    /** Some verifiers keep using the former primary, which does not know that it was replaced. */
    async 'old primary resumed'(stage) {
      const { random, pause, goTo, worst, verifiers } = stage;
      await primary.server.freeze();
      await promote(replica);
      swap();
      const faithful = random.below(verifiers.length);
      for (const index of verifiers.keys()) if (index !== faithful) goTo(primary.server.url, index);
      await pause(random.between(100, 1000));
      await replica.server.thaw();
      worst();
      await pause(random.between(300, 1500));
      worst();
      await stage.moveAll(primary.server.url);
      await follow(replica, primary);
      await whole();
    },

    async 'A-B-A'(stage) {
      await promote(replica);
      stage.worst();
      await stage.moveAll(replica.server.url);
      await stage.pause(stage.random.between(300, 2500));
      stage.worst();
      await stage.moveAll(primary.server.url);
      await follow(replica, primary);
      await whole();
    },

    /** Like A-B-A, but A becomes a replica of B, so that B accepts spends. Then A is primary again. */
    async 'A-B-A with replicas'(stage) {
      for (let turn = 0; turn < 2; turn += 1) {
        await promote(replica);
        swap();
        stage.goTo(primary.server.url);
        await follow(replica, primary);
        await whole();
        stage.worst();
        await stage.pause(stage.random.between(0, 2500));
      }
    },

    async 'split brain'(stage) {
      const { random, goTo, pause, worst, verifiers } = stage;
      await promote(replica);
      const lost = random.below(verifiers.length);
      goTo(replica.server.url, lost);
      worst();
      await pause(random.between(500, 2500));
      worst();
      goTo(primary.server.url, lost);
      await follow(replica, primary);
      await whole();
    },

    async 'replica lost'({ pause, refuses }) {
      await replica.server.kill();
      await pause(300);
      await refuses(200, 1000);
      await replica.server.start();
      await follow(replica, primary);
      await whole();
    },

    /** A proof recorded on only one server must not count as spent. */
    async 'replica frozen'({ random, pause, worst, unsafe }) {
      await replica.server.freeze();
      const safe = unsafe();
      await pause(random.between(200, 4000));
      safe();
      worst();
      await replica.server.thaw();
      await whole();
    },
  };

  await follow(replica, primary);
  await whole();
  return {
    get store() {
      return { kind: 'redis', url: primary.server.url, replicas: 1, timeoutMs: TIMEOUT_MS } as const;
    },
    faults: { ...VERIFIER_FAULTS, ...redisServerFaults(() => primary, whole), ...faults },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
