import { Redis } from 'ioredis';
import pg from 'pg';
import type { ReplayPolicy, ReplayStore } from '../../../libs/public/verifier/src/replay/replay-store.ts';
import type { SharedReplayStore } from '../../../libs/public/verifier/src/replay/shared-store.ts';
import { startRedis } from '../../env/redis.ts';
import { type Clock, loadLibrary, type StoreAddress } from './open-store.ts';
import { schemaOf, startLedger } from './stores/postgres-single.ts';
import { changeLibrary } from './variants.ts';

/** A verifier's policy and clock. */
export interface Party {
  readonly policy: ReplayPolicy;
  readonly clock: Clock;
}

/** One store and its verifiers, with every clock under control. */
export interface ClockedStore extends AsyncDisposable {
  /** In the order of the parties. */
  readonly replays: readonly ReplayStore[];
  /** Sets the clock of the server, if there is one. */
  setClock(seconds: number): Promise<void>;
  /** What each verifier does by itself every few seconds. */
  touch(): Promise<void>;
}

type Open = (library: string, parties: readonly Party[]) => Promise<ClockedStore>;

/** Generous: a spend without an answer in time is accepted by nobody, and shows nothing. */
const TIMEOUT_MS = 2000;

/** One process: the clock is that of the first party. */
const openMemory: Open = async (library, parties) => {
  const { clock } = parties[0] as Party;
  const { replay } = await loadLibrary(library).openStore({ kind: 'memory', entriesMax: 2_000_000 }, clock);
  for (const { policy } of parties) replay.attach?.(policy);
  return {
    replays: parties.map(() => replay),
    setClock: async () => {},
    touch: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
};

/** A process per party. */
async function openShared(library: string, parties: readonly Party[], address: StoreAddress) {
  const loaded = loadLibrary(library);
  const stores = await Promise.all(
    parties.map(async ({ policy, clock }) => {
      const store = await loaded.openStore(address, clock);
      store.replay.attach?.(policy);
      return store;
    }),
  );
  const replays = stores.map(({ replay }) => replay as SharedReplayStore);
  return {
    replays,
    touch: async () => void (await Promise.allSettled(replays.map((replay) => replay.touch()))),
    close: () => Promise.all(stores.map(({ close }) => close())),
  };
}

/** The scripts read the time from a key: a real Redis has no other way to step its clock alone. */
const REDIS_CLOCK = [
  'replay/redis/scripts.ts',
  "redis.call('TIME')",
  "redis.call('HMGET', 'clock', 'seconds', 'microseconds')",
] as const;

const openRedis: Open = async (library, parties) => {
  const stack = new AsyncDisposableStack();
  const { folder } = stack.use(await changeLibrary('the clock of Redis', library, [REDIS_CLOCK]));
  const server = stack.use(await startRedis({ arguments: ['--maxmemory-policy', 'noeviction'] }));
  const admin = new Redis(server.url);
  stack.defer(() => admin.disconnect());
  const address = { kind: 'redis', url: server.url, replicas: 0, timeoutMs: TIMEOUT_MS } as const;
  const { replays, touch, close } = await openShared(folder, parties, address);
  stack.defer(async () => void (await close()));
  return {
    replays,
    touch,
    async setClock(seconds) {
      const whole = Math.floor(seconds);
      const microseconds = Math.floor((seconds - whole) * 1_000_000);
      await admin.hset('clock', { seconds: whole, microseconds });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** The function through which the store reads the time reads it from a table. */
const POSTGRES_CLOCK = `CREATE UNLOGGED TABLE public.clock AS SELECT 0::double precision AS seconds;
  CREATE OR REPLACE FUNCTION ori_replay.clock() RETURNS double precision
    LANGUAGE sql VOLATILE AS $$ SELECT seconds FROM public.clock $$`;

const openPostgres: Open = async (library, parties) => {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startLedger());
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  stack.defer(() => admin.end());
  await admin.query(`${await schemaOf(library)}; ${POSTGRES_CLOCK}`);
  const address = { kind: 'postgres', url: server.url, replicas: 0, timeoutMs: TIMEOUT_MS } as const;
  const { replays, touch, close } = await openShared(library, parties, address);
  stack.defer(async () => void (await close()));
  return {
    replays,
    touch,
    setClock: async (seconds) => void (await admin.query('UPDATE public.clock SET seconds = $1', [seconds])),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** The stores whose clocks can step, and how many spends a run of all faults makes. */
export const CLOCKED_STORES = {
  memory: { open: openMemory, spends: 10_000_000, spendsQuick: 1_000_000 },
  redis: { open: openRedis, spends: 10_000_000, spendsQuick: 100_000 },
  postgres: { open: openPostgres, spends: 1_000_000, spendsQuick: 20_000 },
} as const satisfies Record<string, { open: Open; spends: number; spendsQuick: number }>;

export type ClockedStoreName = keyof typeof CLOCKED_STORES;
