import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { openPostgres } from '@ori/store/postgres';
import { Redis } from 'ioredis';
import { createTenant, type Tenant } from '../contract/management/world.ts';
import { createHttpClient, type HttpClient } from '../env/http-client.ts';
import { freePort } from '../env/ports.ts';
import { createDatabase, type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { startTcpProxy, type TcpProxy } from '../env/tcp-proxy.ts';
import { startWorld, type World } from '../env/world.ts';
import { createService, type Service } from '../shipped/service.ts';

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
  readonly management: Service;
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
  const proxied = { url: through(postgres.url, postgres.port, toPostgres) };
  const world = stack.use(
    await startWorld({
      process: true,
      redis: { url: through(redis.url, redis.port, toRedis) },
      postgres: proxied,
      environment: {
        TURN_WINDOW_SECONDS: '86400',
        // All requests are of one account, and a frozen dependency holds many of them.
        REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: '256',
      },
    }),
  );
  const database = stack.use(await createDatabase({ server: proxied }));
  const store = stack.adopt(openPostgres({ url: database.url, poolMax: 2 }), (open) => open.close());
  const ours = await createTenant(store, world.issuer.url);
  const theirs = await createTenant(store, world.issuer.url);
  const management = stack.use(
    await createService({
      name: 'management',
      address: `127.0.0.1:${await freePort()}`,
      environment: {
        DATABASE_URL_FILE: database.managementUrl,
        ISSUER: world.issuer.url,
        AUDIENCE: world.baseUrl,
        KEK_FILE: generateKekRing('management'),
        INTROSPECTION_CLIENT_ID: world.issuer.introspectionClient.id,
        INTROSPECTION_CLIENT_SECRET_FILE: world.issuer.introspectionClient.secret,
      },
    }),
  );
  await management.start();
  const signerHttp = stack.use(createHttpClient(world.baseUrl, CONNECTIONS_MAX));
  const managementHttp = stack.use(createHttpClient(`http://${management.address}/v1`, CONNECTIONS_MAX));
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
    ours,
    theirs,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
