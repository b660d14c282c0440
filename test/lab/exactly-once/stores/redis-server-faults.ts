import type { Redis } from 'ioredis';
import type { RedisServer } from '../../../env/redis.ts';
import { halfOpen } from '../half-open.ts';
import type { Fault, Stage } from '../stage.ts';
import { snapshotsFail } from './redis-disk-faults.ts';

/** The server that the verifiers currently use, and an operator's connection to it. */
export interface Primary {
  readonly server: RedisServer;
  readonly admin: Redis;
}

/** How long a store may not have noticed a change of settings: it checks every 2 s. */
const LOOK_MS = 4500;

/**
 * Faults of one Redis server that are repaired in place. `primary` returns the current primary; `whole` resolves when it
 * and its replicas serve again.
 */
export function redisServerFaults(
  primary: () => Primary,
  whole: () => Promise<void>,
): Readonly<Record<string, Fault>> {
  const half = (passage: 'deaf' | 'mute') => (stage: Stage) => halfOpen(stage, primary().server, passage);
  return {
    async FLUSHALL({ pause, random, worst }) {
      await primary().admin.flushall();
      worst();
      await pause(random.between(0, 300));
    },

    /** Sometimes long enough for proofs to be accepted in the other database too. */
    async SWAPDB({ pause, random, worst }) {
      await primary().admin.call('SWAPDB', '0', '1');
      worst();
      await pause(random.between(100, 7000));
      await primary().admin.call('SWAPDB', '0', '1');
      worst();
    },

    async frozen({ pause, random, worst }) {
      await primary().server.freeze();
      await pause(random.between(100, 2500));
      await primary().server.thaw();
      worst();
      await whole();
    },

    async 'memory full'({ pause, random, worst }) {
      const { admin } = primary();
      await admin.config('SET', 'maxmemory', '1');
      await pause(random.between(200, 1000));
      worst();
      await pause(200);
      await admin.config('SET', 'maxmemory', '0');
    },

    /** The store must refuse while keys may be evicted. Keys evicted before it notices must not lead to a double accept. */
    async 'policy changed'({ pause, random, worst, refuses }) {
      const { admin } = primary();
      const used = /used_memory:(\d+)/.exec(await admin.info('memory'))?.[1] ?? '0';
      const evicts = random.chance(0.5);
      await admin.config(
        'SET',
        'maxmemory-policy',
        random.pick(['allkeys-lru', 'allkeys-random', 'allkeys-lfu']),
      );
      if (evicts) await admin.config('SET', 'maxmemory', String(Math.round(Number(used) * 0.9)));
      await pause(LOOK_MS);
      await refuses(100, 500);
      await admin.config('SET', 'maxmemory', '0');
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      worst();
    },

    async 'scripts forgotten'({ worst }) {
      await primary().admin.script('FLUSH');
      worst();
    },

    async 'replication id changed'({ worst }) {
      await primary().admin.call('DEBUG', 'CHANGE-REPL-ID');
      worst();
      await whole();
    },

    'snapshots fail': snapshotsFail(primary),
    'half-open, requests lost': half('deaf'),
    'half-open, answers lost': half('mute'),
  };
}
