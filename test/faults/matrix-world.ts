import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createTenant } from '../contract/management/world.ts';
import { createHttpClient } from '../env/http-client.ts';
import { startOtlpReceiver } from '../env/otlp-receiver.ts';
import { startPostgres } from '../env/postgres.ts';
import { startRedis } from '../env/redis.ts';
import { startManagement } from '../env/service.ts';
import { startTcpProxy, type TcpProxy } from '../env/tcp-proxy.ts';
import { startWorld } from '../env/world.ts';

/** The maximum number of concurrent requests: enough that no request waits for another. */
const CONNECTIONS_MAX = 512;

export async function startMatrixWorld() {
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
    /** The test's own connection, which bypasses the proxy. */
    redisDirectly,
    signerHttp,
    management,
    managementHttp,
    redisPassword,
    /** Of traces. */
    collector,
    ours,
    theirs,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Both services as processes, which write as much as they can, with breakable proxies in front of Redis and PostgreSQL.
 */
export type MatrixWorld = Awaited<ReturnType<typeof startMatrixWorld>>;
