import { createHash } from 'node:crypto';
import { REDIS_SCRIPTS, type RedisScriptName } from './scripts.ts';

type Argument = string | number | Buffer;

/** The client options that are checked, by ioredis's names. */
export interface RedisClientOptions {
  readonly enableOfflineQueue?: boolean | undefined;
  readonly autoResendUnfulfilledCommands?: boolean | undefined;
  readonly maxRetriesPerRequest?: number | null | undefined;
  readonly keyPrefix?: string | undefined;
  readonly redisOptions?: RedisClientOptions | undefined;
}

/**
 * The interface that the store needs from a client. `Redis` and `Cluster` of ioredis 5 or 6 satisfy it. Your own client
 * must send each command once, to the server that has the keys; must fail while it is not connected; and must send the
 * commands of a pipeline together on one connection. Test the store over it with `requireReplayStore` of
 * '@ori/verifier/testing'.
 */
export interface RedisClient {
  readonly options: RedisClientOptions;
  call(command: string, ...args: Argument[]): Promise<unknown>;
  pipeline(commands: unknown[][]): { exec(): Promise<[error: Error | null, result: unknown][] | null> };
  on(event: 'ready', listener: () => void): unknown;
  off(event: 'ready', listener: () => void): unknown;
  /** The connection. The store destroys it when answers are missing, and the client must then open another. */
  readonly stream?: { destroy(): unknown } | undefined;
  /** Clusters only, which have no `stream` of their own. */
  nodes?(role: 'master'): Pick<RedisClient, 'call' | 'stream'>[];
}

/** The digests by which EVALSHA names the scripts. */
export const SCRIPT_SHA1: Readonly<Record<RedisScriptName, string>> = Object.fromEntries(
  Object.entries(REDIS_SCRIPTS).map(([name, source]) => [
    name,
    createHash('sha1').update(source).digest('hex'),
  ]),
) as Record<RedisScriptName, string>;

/**
 * @throws {TypeError} for a client that queues or repeats commands: a spend that is sent late or twice gets the wrong answer, and one
 * that waits for a server that is down gets none.
 */
export function requireRedisClient(redis: RedisClient): void {
  if (
    typeof redis?.call !== 'function' ||
    typeof redis.pipeline !== 'function' ||
    typeof redis.on !== 'function'
  ) {
    throw new TypeError('redisReplayStore: expected a client of ioredis or node-redis');
  }
  // A client of ioredis has a stream once it connects.
  if (!('stream' in redis || 'status' in redis || typeof redis.nodes === 'function')) {
    throw new TypeError('redisReplayStore: the client must have a stream, to close silent connections');
  }
  const options = redis.options ?? {};
  const connection = options.redisOptions ?? options;
  requireOption('enableOfflineQueue: false', options.enableOfflineQueue === false);
  if (connection === options) {
    requireOption('autoResendUnfulfilledCommands: false', options.autoResendUnfulfilledCommands === false);
    requireOption('maxRetriesPerRequest: 0', options.maxRetriesPerRequest === 0);
  }
  requireOption('no keyPrefix', !(options.keyPrefix || connection.keyPrefix));
}

/** Closes the connections of a client, which then opens others. */
export function reopenConnections(redis: RedisClient): void {
  for (const node of redis.nodes?.('master') ?? [redis]) node.stream?.destroy();
}

function requireOption(words: string, isMet: boolean): void {
  if (!isMet) throw new TypeError(`redisReplayStore: the client must be made with ${words}`);
}
