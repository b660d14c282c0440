import type { RedisClient } from './client.ts';

/** What is used of a client of node-redis 5, as `createClient` of `redis` or `@redis/client` makes it. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  readonly options?: { readonly disableOfflineQueue?: boolean | undefined } | undefined;
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  on(event: 'ready', listener: () => void): unknown;
  off(event: 'ready', listener: () => void): unknown;
}

/** Whether this is a single connection of node-redis; its cluster, pool and sentinel take other arguments for a command. */
export function isNodeRedis(redis: RedisClient | NodeRedisClient): redis is NodeRedisClient {
  return (
    typeof redis === 'object' &&
    redis !== null &&
    'sendCommand' in redis &&
    typeof redis.sendCommand === 'function' &&
    !('call' in redis)
  );
}

/**
 * The client in ioredis's shape.
 * @throws {TypeError} for one that queues commands while it is not connected, and for anything but a single connection.
 */
export function adaptNodeRedis(redis: NodeRedisClient): RedisClient {
  if (typeof redis.isReady !== 'boolean' || 'acquire' in redis || 'masters' in redis) {
    throw new TypeError('redisReplayStore: of node-redis, expected what createClient makes');
  }
  if (redis.options?.disableOfflineQueue !== true) {
    throw new TypeError('redisReplayStore: the client must be made with disableOfflineQueue: true');
  }
  const send = (command: readonly unknown[]): Promise<unknown> =>
    redis.sendCommand(command.map((part) => (Buffer.isBuffer(part) ? part : String(part))));
  return {
    options: { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
    call: (...command) => send(command),
    // Sent on one turn of the event loop, they leave on one connection with nothing between them.
    pipeline: (commands) => ({
      exec: async () =>
        (await Promise.allSettled(commands.map(send))).map((answer) =>
          answer.status === 'fulfilled' ? [null, answer.value] : [toError(answer.reason), undefined],
        ),
    }),
    on: (event, listener) => redis.on(event, listener),
    off: (event, listener) => redis.off(event, listener),
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the client failed', { cause: reason });
}
