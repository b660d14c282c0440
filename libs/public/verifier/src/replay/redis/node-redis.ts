import type { RedisClient } from './client.ts';

/**
 * The interface that the store needs from a node-redis client, made by `createClient` of `redis` or `@redis/client`.
 */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options?: { readonly disableOfflineQueue?: boolean | undefined } | undefined;
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'ready', listener: () => void): unknown;
  off(event: 'ready', listener: () => void): unknown;
}

/** Whether this is a node-redis client. Its cluster, pool and sentinel clients have a different `sendCommand`. */
export function isNodeRedis(redis: RedisClient | NodeRedisClient): redis is NodeRedisClient {
  return (
    typeof (redis as Partial<NodeRedisClient> | undefined)?.sendCommand === 'function' && !('call' in redis)
  );
}

/**
 * Adapts the client to the interface of ioredis.
 * @throws {TypeError} it queues commands while it is not connected, or is not a single connection.
 */
export function adaptNodeRedis(redis: NodeRedisClient): RedisClient {
  if (typeof redis.isReady !== 'boolean' || 'acquire' in redis || 'masters' in redis) {
    throw new TypeError('redisReplayStore: expected a node-redis client made by createClient');
  }
  if (redis.options?.disableOfflineQueue !== true) {
    throw new TypeError('redisReplayStore: the client must be made with disableOfflineQueue: true');
  }
  // It has no access to its socket. Its owner may have closed it.
  const reopen = (): void => {
    if (!redis.isOpen) return;
    redis.destroy();
    redis.connect().catch(() => undefined);
  };
  const send = (command: readonly unknown[]): Promise<unknown> =>
    redis.sendCommand(command.map((part) => (Buffer.isBuffer(part) ? part : String(part))));
  return {
    options: { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
    call: (...command) => send(command),
    // Commands sent in one turn of the event loop are sent back to back on one connection.
    pipeline: (commands) => ({
      exec: async () =>
        (await Promise.allSettled(commands.map(send))).map((answer) =>
          answer.status === 'fulfilled' ? [null, answer.value] : [answer.reason, undefined],
        ),
    }),
    stream: { destroy: reopen },
    on: (event, listener) => redis.on(event, listener),
    off: (event, listener) => redis.off(event, listener),
  };
}
