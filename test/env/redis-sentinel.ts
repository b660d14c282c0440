import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { type RedisServer, redisProgram, startRedis } from './redis.ts';
import { hasReplicas, openAdmin } from './redis-admin.ts';
import { openRoom } from './room.ts';
import { ServerProcess } from './server-process.ts';
import { until } from './until.ts';

const MASTER_NAME = 'ori';
const SENTINELS = 3;
const PATIENT = { commandTimeout: 1000 };

/** A primary and a follower, monitored by three sentinels that promote the follower if the primary fails. */
export interface SentinelPair extends AsyncDisposable {
  /** For the clients of the services, which understand Sentinel addresses. */
  readonly url: string;
  readonly servers: readonly RedisServer[];
  /** The server that the sentinels report as primary. */
  primary(): Promise<RedisServer>;
  /** Waits until a server other than `former` is the primary. */
  failedOver(former: RedisServer): Promise<void>;
  /** Promotes the other server. Retries if the leading sentinel abandons the failover. */
  failOver(former: RedisServer): Promise<void>;
  /** Waits until one server follows the other and no sentinel considers either down. */
  whole(): Promise<void>;
  /** Restarts a killed server and makes it follow the primary, without waiting for the sentinels. */
  rejoin(former: RedisServer): Promise<void>;
}

/** Sentinels that consider a server down after `downAfterMs`. */
export async function startSentinelPair({ downAfterMs = 500 } = {}): Promise<SentinelPair> {
  const stack = new AsyncDisposableStack();
  try {
    const options = { arguments: ['--repl-diskless-sync-delay', '0', '--enable-debug-command', 'yes'] };
    const servers = [stack.use(await startRedis(options)), stack.use(await startRedis(options))] as const;
    const [first, second] = servers;
    const admins = servers.map(({ url }) => openAdmin(url, PATIENT));
    stack.defer(() => {
      for (const admin of admins) admin.disconnect();
    });
    await admins[1]?.replicaof(first.host, first.port);
    const sentinels: { readonly port: number }[] = [];
    for (let index = 0; index < SENTINELS; index += 1) {
      sentinels.push(await startSentinel(stack, first.port, downAfterMs));
    }
    const asked = sentinels.map(({ port }) => openAdmin(`redis://127.0.0.1:${port}`, PATIENT));
    stack.defer(() => {
      for (const sentinel of asked) sentinel.disconnect();
    });

    const call = async (command: string, ...args: string[]) => {
      const awake = asked.find(({ status }) => status === 'ready') ?? asked[0];
      return awake?.call('SENTINEL', command, ...args);
    };
    const primaryPort = async (): Promise<number> => {
      const address = (await call('GET-MASTER-ADDR-BY-NAME', MASTER_NAME)) as string[] | null;
      return Number(address?.[1]);
    };
    const primary = async (): Promise<RedisServer> =>
      (await primaryPort()) === second.port ? second : first;
    const pair: SentinelPair = {
      url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER_NAME}`,
      servers,
      primary,
      failedOver: (former) =>
        until('no failover by Sentinel', async () => (await primaryPort()) !== former.port),
      failOver: (former) =>
        until('no failover by command', async () => {
          if ((await primaryPort()) !== former.port) return true;
          await call('FAILOVER', MASTER_NAME);
          return false;
        }),
      whole: () =>
        until('the replica of the Sentinel pair does not follow', async () => {
          const views = (await Promise.all(
            asked.map((one) => one.call('SENTINEL', 'MASTER', MASTER_NAME)),
          )) as string[][];
          if (!views.every((view) => view[view.indexOf('flags') + 1] === 'master')) return false;
          const port = await primaryPort();
          const admin = admins[servers.findIndex((server) => server.port === port)];
          const replication = (await admin?.info('replication')) ?? '';
          return replication.includes('role:master') && hasReplicas(replication, 1);
        }),
      async rejoin(former) {
        await former.start();
        await admins[servers.indexOf(former as (typeof servers)[number])]?.replicaof(
          '127.0.0.1',
          await primaryPort(),
        );
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
    await pair.whole();
    for (const sentinel of asked) {
      await until('the sentinels do not know of each other', async () => {
        const known = (await sentinel.call('SENTINEL', 'SENTINELS', MASTER_NAME)) as unknown[];
        const replicas = (await sentinel.call('SENTINEL', 'REPLICAS', MASTER_NAME)) as unknown[];
        return known.length === SENTINELS - 1 && replicas.length === 1;
      });
    }
    return pair;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** @param additional configuration lines */
export async function startSentinel(
  stack: AsyncDisposableStack,
  watched: number,
  downAfterMs: number,
  more: readonly string[] = [],
): Promise<{ readonly port: number }> {
  const room = stack.use(await openRoom('ori-sentinel'));
  const port = await freePort();
  const file = join(room.directory, 'sentinel.conf');
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${room.directory}`,
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${watched} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${MASTER_NAME} 2000`,
    `sentinel parallel-syncs ${MASTER_NAME} 1`,
    ...more,
  ];
  await writeFile(file, `${settings.join('\n')}\n`);
  const server = new ServerProcess({
    room,
    program: redisProgram(),
    arguments: [file, '--sentinel'],
    ready: /Sentinel ID is|\+monitor/,
    farewell: 'KILL',
  });
  await server.start();
  return { port };
}
