import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createTenant, type Tenant } from '../contract/management/world.ts';
import { createHttpClient, type HttpClient } from '../env/http-client.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../env/otlp-receiver.ts';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { type Service, startManagement } from '../env/service.ts';
import { startTcpProxy, type TcpProxy } from '../env/tcp-proxy.ts';
import { startWorld, type World } from '../env/world.ts';

/** The maximum number of concurrent requests: enough that no request waits for another. */
const CONNECTIONS_MAX = 512;

/**
 * Both services as processes, which write as much as they can, with breakable proxies in front of Redis and PostgreSQL.
 */
export interface MatrixWorld extends AsyncDisposable {
  readonly world: World;
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  readonly toRedis: TcpProxy;
  readonly toPostgres: TcpProxy;
  /** The test's own connection, which bypasses the proxy. */
  readonly redisDirectly: Redis;
  readonly signerHttp: HttpClient;
  readonly management: Service;
  readonly managementHttp: HttpClient;
  readonly redisPassword: string;
  /** Of traces. */
  readonly collector: OtlpReceiver;
  readonly ours: Tenant;
  readonly theirs: Tenant;
}

export async function startMatrixWorld(): Promise<MatrixWorld> {
  await using stack = new AsyncDisposableStack();
  const redisPassword = randomBytes(18).toString('base64url');
  const [redis, postgres] = await Promise.all([startRedis({ password: redisPassword }), startPostgres()]);
  stack.use(redis);
  stack.use(postgres);
  const toRedis = stack.use(await startTcpProxy(redis.port));
  const toPostgres = stack.use(await startTcpProxy(postgres.port));
  const collector = stack.use(await startOtlpReceiver());
  const through = (url: string, port: number, proxy: TcpProxy) => url.replace(`:${port}`, `:${proxy.port}`);
  const world = stack.use(
    await startWorld({
      process: true,
      redis: { url: through(redis.url, redis.port, toRedis) },
      postgres: { url: through(postgres.url, postgres.port, toPostgres) },
      environment: {
        LOG_LEVEL: 'trace',
        OTLP_ENDPOINT: collector.url,
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
      LOG_LEVEL: 'trace',
      OTLP_ENDPOINT: collector.url,
      AUDIENCE: world.baseUrl,
      INTROSPECTION_CLIENT_ID: id,
      INTROSPECTION_CLIENT_SECRET_FILE: secret,
    }),
  );
  const connect = (url: string) => stack.use(createHttpClient(url, { connectionsMax: CONNECTIONS_MAX }));
  const signerHttp = connect(world.baseUrl);
  const managementHttp = connect(`http://${management.address}/v1`);
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
    management,
    managementHttp,
    redisPassword,
    collector,
    ours,
    theirs,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
