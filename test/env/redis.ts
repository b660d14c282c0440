import {
  type RedisOptions,
  type RedisServer,
  startRedisAnywhere,
  startRedisContainer,
  startRedisProcess,
} from './redis-server.ts';
import { providedBackends } from './run.ts';

export type { RedisOptions, RedisServer } from './redis-server.ts';

/** The Redis that the whole run shares. Never flush it; keys carry a random intern id. Within vitest only. */
export function sharedRedisUrl(): string {
  const backends = providedBackends();
  if (!backends) throw new Error('the shared Redis exists within a test run only: use startRedis()');
  return backends.redis.url;
}

/**
 * Starts a private Redis, never `TEST_REDIS_URL`'s: from the Docker engine of the run, else from the PATH. One with
 * arguments is always a process of the PATH: replicas, cluster nodes and files need servers that share a loopback and a disk.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const origin = options.arguments ? 'path' : providedBackends()?.redis.origin;
  if (origin === 'docker') return startRedisContainer(options);
  if (origin === 'path') return startRedisProcess(options);
  return (await startRedisAnywhere(options)).server;
}
