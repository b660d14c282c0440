import { connectRedis, type RedisClient } from '@ori/redis/connection';
import type { Secret } from '@ori/runtime/secret';
import { memoryReplayStore, type ReplayStore } from '@ori/verifier';
import { redisReplayStore } from '@ori/verifier/redis';

const CONNECT_MS = 3000;

/** Where the sample daemon remembers spent proofs. */
export interface Replay {
  readonly store: ReplayStore;
  /** How far the clocks that this store compares may differ, in seconds; it also lengthens the wait after its fence. */
  readonly clockToleranceSeconds: number;
  /** Resolves when the daemon's fence is set: proofs signed a moment later are accepted. */
  fence(): Promise<void>;
  close(): void;
}

/** Nothing answers at `ORI_REDIS_URL`. */
export class RedisUnreachable extends Error {
  constructor() {
    super(`ORI_REDIS_URL: no Redis answered there within ${CONNECT_MS} ms`);
    this.name = 'RedisUnreachable';
  }
}

/**
 * Opens the daemon's replay store: the signer's Redis if there is one, where the daemon redeems nonces that the signer
 * reserved, otherwise the memory of this process.
 *
 * @throws RedisUnreachable
 */
export async function openReplay(redisUrl: Secret | undefined): Promise<Replay> {
  // In one process, signer and daemon read one clock.
  if (redisUrl === undefined)
    return { store: memoryReplayStore(), clockToleranceSeconds: 0, async fence() {}, close() {} };
  const redis = connectRedis(redisUrl, { purpose: 'ori standalone (daemon)' });
  if (!(await isReady(redis))) {
    redis.disconnect();
    throw new RedisUnreachable();
  }
  const store = redisReplayStore(redis, { mode: 'redeem' });
  return {
    store,
    clockToleranceSeconds: 2,
    fence: () => store.touch(),
    close() {
      store.close();
      redis.disconnect();
    },
  };
}

/** Failed attempts are ignored, because the client keeps trying. */
function isReady(redis: RedisClient): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), CONNECT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
