import { Redis, type RedisOptions } from 'ioredis';

/** An operator's connection, which waits for its server without a time limit. */
export function openAdmin(url: string, options: Pick<RedisOptions, 'commandTimeout'> = {}): Redis {
  const admin = new Redis(url, { ...options, retryStrategy: () => 20, maxRetriesPerRequest: null });
  admin.on('error', () => {});
  return admin;
}

/** Whether the primary, by its `INFO replication`, has at least so many replicas that are hardly behind. */
export function hasReplicas(replication: string, count: number): boolean {
  return [...replication.matchAll(/slave\d+:.*state=online.*lag=[01]\b/g)].length >= count;
}
