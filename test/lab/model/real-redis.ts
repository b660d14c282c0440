import { Redis } from 'ioredis';
import { type RedisClient, SCRIPT_SHA1 } from '../../../libs/public/verifier/src/replay/redis/client.ts';
import {
  REDIS_SCRIPTS,
  type RedisScriptName,
} from '../../../libs/public/verifier/src/replay/redis/scripts.ts';
import { startRedis } from '../../env/redis.ts';
import { STRICT } from '../../env/verifier/strict-client.ts';
import type { Delivery } from './configuration.ts';

/** A real server, with the actions of the model's adversary. */
export interface RealRedis extends AsyncDisposable {
  readonly redis: Redis;
  /** SIGKILL and a restart without files: empty, with another replication id. */
  crash(): Promise<void>;
}

export async function startRealRedis(): Promise<RealRedis> {
  const server = await startRedis();
  const redis = new Redis(server.url, { ...STRICT, retryStrategy: () => 20, lazyConnect: true });
  redis.on('error', () => undefined);
  redis.setMaxListeners(0);
  await redis.connect();
  return {
    redis,
    async crash() {
      const ready = new Promise((resolve) => redis.once('ready', resolve));
      await server.kill();
      await server.start();
      await ready;
    },
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Restores the initial state. */
export async function clear({ redis }: RealRedis): Promise<void> {
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await redis.flushall();
}

/** The network between a store and its server. */
export interface Wire {
  /** The server's clock, in Unix seconds. */
  seconds(): number;
  delivery: Delivery | 'nothing-passes';
}

const TIME = "redis.call('TIME')";

/** A store's client. Scripts run unchanged, except that the server's clock is the model's. */
export function clientOn(redis: Redis, wire: Wire): RedisClient {
  const sourceOf = new Map(
    Object.keys(REDIS_SCRIPTS).map((name) => [
      SCRIPT_SHA1[name as RedisScriptName],
      REDIS_SCRIPTS[name as RedisScriptName],
    ]),
  );
  return {
    options: STRICT,
    async call(_command, sha1, ...rest) {
      if (wire.delivery === 'nothing-passes' || wire.delivery === 'question-lost') throw new Error('lost');
      const source = sourceOf.get(String(sha1));
      if (source?.split(TIME).length !== 2) throw new Error('not a script that reads the time once');
      const answer = await redis.call('EVAL', source.replace(TIME, `{'${wire.seconds()}', '0'}`), ...rest);
      if (wire.delivery === 'answer-lost') throw new Error('lost');
      return answer;
    },
    stream: undefined,
    pipeline: () => {
      throw new Error('no replicas here');
    },
    on: () => undefined,
    off: () => undefined,
  };
}
