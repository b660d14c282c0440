import { postgresPair } from '../../wings/exactly-once/postgres-pair.ts';
import { postgresSingle } from '../../wings/exactly-once/postgres-single.ts';
import type { World } from './stage.ts';
import { memoryWorld } from './stores/memory.ts';
import { redisPair } from './stores/redis-pair.ts';
import { redisSingle } from './stores/redis-single.ts';
import { redisTrio } from './stores/redis-trio.ts';

/** What a world may need to know about its verifiers. */
export interface Place {
  readonly internId: string;
  /** Folder of the verifier library's sources. */
  readonly library: string;
}

/** A kind of world for the lanes of one store. */
export interface Setting {
  readonly name: string;
  readonly verifiers: number;
  readonly open: (place: Place) => Promise<World>;
}

export const SETTINGS = {
  redis: [
    { name: 'redis', verifiers: 3, open: () => redisSingle('none') },
    { name: 'redis-aof', verifiers: 2, open: () => redisSingle('aof') },
    { name: 'redis-pair', verifiers: 3, open: redisPair },
    { name: 'redis-trio', verifiers: 2, open: redisTrio },
  ],
  memory: [
    { name: 'memory-1', verifiers: 1, open: memoryWorld },
    { name: 'memory-2', verifiers: 1, open: memoryWorld },
    { name: 'memory-3', verifiers: 1, open: memoryWorld },
  ],
  postgres: [
    { name: 'postgres', verifiers: 3, open: postgresSingle },
    { name: 'postgres-pair', verifiers: 2, open: postgresPair },
  ],
} as const satisfies Record<string, readonly Setting[]>;

export type StoreName = keyof typeof SETTINGS;

/** The least number of schedules of a full run, if the faults alone give fewer. */
export const SCHEDULES_MIN = 500;

/** How often a full run stages each fault of a store. */
export const ROUNDS = 20;
