import { Redis } from 'ioredis';
import { createTenant, type Tenant } from '../contract/management/world.ts';
import { createHttpClient, type HttpClient } from '../env/http-client.ts';
import { startManagement } from '../env/management.ts';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { startTcpProxy, type TcpProxy } from '../env/tcp-proxy.ts';
import { startWorld, type World } from '../env/world.ts';

/** The maximum number of concurrent requests: enough that no request waits for another. */
const CONNECTIONS_MAX = 512;

/** Both services as processes, with breakable proxies in front of Redis and PostgreSQL. */
export interface MatrixWorld extends AsyncDisposable {
  readonly world: World;
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  readonly toRedis: TcpProxy;
  readonly toPostgres: TcpProxy;
  /** The test's own connection, which bypasses the proxy. */
  readonly redisDirectly: Redis;
  readonly signerHttp: HttpClient;
  readonly managementPid: number | undefined;
  readonly managementHttp: HttpClient;
  readonly ours: Tenant;
  readonly theirs: Tenant;
}

export async function startMatrixWorld(): Promise<MatrixWorld> {
  await using stack = new AsyncDisposableStack();
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  stack.use(redis);
  stack.use(postgres);
  const toRedis = stack.use(await startTcpProxy(redis.port));
  const toPostgres = stack.use(await startTcpProxy(postgres.port));
  const through = (url: string, port: number, proxy: TcpProxy) => url.replace(`:${port}`, `:${proxy.port}`);
  const world = stack.use(
    await startWorld({
      process: true,
      redis: { url: through(redis.url, redis.port, toRedis) },
      postgres: { url: through(postgres.url, postgres.port, toPostgres) },
      environment: {
        TURN_WINDOW_SECONDS: '86400',
        // All requests are of one account, and a frozen dependency holds many of them.
        REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: '256',
      },
    }),
  );
  const ours = await createTenant(world.store, world.issuer.url);
  const theirs = await createTenant(world.store, world.issuer.url);
  const { id, secret } = world.issuer.introspectionClient;
  const management = stack.use(
    await startManagement(world, {
      MANAGEMENT_AUDIENCE: world.baseUrl,
      MANAGEMENT_INTROSPECTION_CLIENT_ID: id,
      MANAGEMENT_INTROSPECTION_CLIENT_SECRET: secret,
    }),
  );
  const connect = (url: string) => stack.use(createHttpClient(url, { connectionsMax: CONNECTIONS_MAX }));
  const signerHttp = connect(world.baseUrl);
  const managementHttp = connect(`http://127.0.0.1:${management.port}/v1`);
  const redisDirectly = new Redis(redis.url, { retryStrategy: () => 20 });
  redisDirectly.on('error', () => {});
  stack.defer(() => redisDirectly.disconnect());
  const owned = stack.move();
  return {
    world,
    redis,
    postgres,
    toRedis,
    toPostgres,
    redisDirectly,
    signerHttp,
    managementPid: management.pid,
    managementHttp,
    ours,
    theirs,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
