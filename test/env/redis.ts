import {
  type RedisOptions,
  type RedisServer,
  startRedisAnywhere,
  startRedisContainer,
  startRedisProcess,
} from './redis-server.ts';
import { providedBackends } from './run.ts';

export type { RedisOptions, RedisServer } from './redis-server.ts';

/** The run's shared Redis. Never flush it: keys contain a random intern id. Only within vitest. */
export function sharedRedisUrl(): string {
  const backends = providedBackends();
  if (!backends) throw new Error('the shared Redis exists within a test run only: use startRedis()');
  return backends.redis.url;
}

/**
 * Starts a private Redis, never that of `TEST_REDIS_URL`, from the run's Docker engine, else from the PATH. One with
 * arguments is always started from the PATH: replicas, cluster nodes and files need servers that share loopback and disk.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const origin = options.arguments ? 'path' : providedBackends()?.redis.origin;
  if (origin === 'docker') return startRedisContainer(options);
  if (origin === 'path') return startRedisProcess(options);
  return (await startRedisAnywhere(options)).server;
}
