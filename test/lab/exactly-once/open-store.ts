import { EventEmitter } from 'node:events';
import { pathToFileURL } from 'node:url';
import type { Redis } from 'ioredis';
import pg from 'pg';
import { connectRedis } from '../../../libs/internal/redis/src/connection.ts';
import { Secret } from '../../../libs/internal/runtime/src/secret.ts';
import type { VerifierOptions } from '../../../libs/public/verifier/src/policy.ts';
import type { MemoryReplayStoreOptions } from '../../../libs/public/verifier/src/replay/memory/store.ts';
import type { PostgresPool } from '../../../libs/public/verifier/src/replay/postgres/client.ts';
import type { PostgresReplayStoreOptions } from '../../../libs/public/verifier/src/replay/postgres/store.ts';
import type { RedisClient } from '../../../libs/public/verifier/src/replay/redis/client.ts';
import type { RedisReplayStoreOptions } from '../../../libs/public/verifier/src/replay/redis/store.ts';
import type { ReplayStore } from '../../../libs/public/verifier/src/replay/replay-store.ts';
import type { Verifier } from '../../../libs/public/verifier/src/verifier.ts';

/** The store in which a verifier process keeps spent proofs. */
export type StoreAddress =
  | { readonly kind: 'memory'; readonly entriesMax: number }
  | { readonly kind: 'redis'; readonly url: string; readonly replicas: number; readonly timeoutMs: number }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      readonly replicas: number;
      readonly timeoutMs: number;
    };

export interface Clock {
  now(): number;
  /** Reads a clock that never steps. */
  uptime(): number;
}

export interface OpenStore {
  readonly replay: ReplayStore;
  /** Uses another address from now on. Calls in flight stay on their connection. */
  goTo(url: string): void;
}

/** Loads the library from its sources: those of the checkout, or a copy with a broken guard. */
export function loadLibrary(folder: string) {
  const load = (file: string) => import(pathToFileURL(`${folder}/${file}`).href);
  return {
    async createVerifier(options: VerifierOptions): Promise<Verifier> {
      return (await load('verifier.ts')).createVerifier(options);
    },

    async openStore(address: StoreAddress, clock: Clock): Promise<OpenStore> {
      switch (address.kind) {
        case 'memory': {
          const options: MemoryReplayStoreOptions = { ...clock, entriesMax: address.entriesMax };
          const replay = (await load('replay/memory/store.ts')).memoryReplayStore(options);
          return { replay, goTo() {} };
        }
        case 'redis': {
          const { client, goTo } = movableClient(address.url);
          const { replicas, timeoutMs } = address;
          const options: RedisReplayStoreOptions = { mode: 'spend', replicas, timeoutMs, now: clock.now };
          const replay = (await load('replay/redis/store.ts')).redisReplayStore(client, options);
          return { replay, goTo };
        }
        case 'postgres': {
          const { pool, goTo } = movablePool(address.url);
          const { replicas, timeoutMs } = address;
          const options: PostgresReplayStoreOptions = { replicas, timeoutMs, now: clock.now };
          const replay = (await load('replay/postgres/store.ts')).postgresReplayStore(pool, options);
          return { replay, goTo };
        }
      }
    },
  };
}

type Movable = Pick<OpenStore, 'goTo'>;

/** A client that can switch to another connection, as after a DNS change. The former one stays open. */
function movableClient(url: string): Movable & { readonly client: RedisClient } {
  const events = new EventEmitter();
  const clients = new Map<string, RedisClient>();
  const open = (at: string): RedisClient => {
    const known = clients.get(at);
    if (known) return known;
    const redis = connectRedis(new Secret(at), { purpose: 'verifier' });
    redis.on('ready', () => redis === current && events.emit('ready'));
    clients.set(at, redis);
    return redis;
  };
  let current = open(url);
  const client: RedisClient = {
    get options() {
      return current.options;
    },
    call: (command, ...args) => current.call(command, ...args),
    get stream() {
      return current.stream;
    },
    pipeline: (commands) => current.pipeline(commands),
    on: (event, listener) => events.on(event, listener),
    off: (event, listener) => events.off(event, listener),
    ...(current.nodes ? { nodes: (role: 'master') => current.nodes?.(role) ?? [] } : {}),
  };
  return {
    client,
    goTo(to) {
      current = open(to);
      if ((current as Redis).status === 'ready') events.emit('ready');
    },
  };
}

const POOL = { max: 10, connectionTimeoutMillis: 500 };

/** The same for a connection pool. */
function movablePool(url: string): Movable & { readonly pool: PostgresPool } {
  const pools = new Map<string, pg.Pool>();
  const listeners: Parameters<PostgresPool['on']>[] = [];
  const open = (at: string): pg.Pool => {
    const known = pools.get(at);
    if (known) return known;
    const pool = new pg.Pool({ ...POOL, connectionString: at });
    pool.on('error', () => {});
    for (const [event, listener] of listeners) pool.on(event, listener);
    pools.set(at, pool);
    return pool;
  };
  let current = open(url);
  return {
    pool: {
      options: POOL,
      get idleCount() {
        return current.idleCount;
      },
      connect: () => current.connect(),
      on(event, listener) {
        listeners.push([event, listener]);
        for (const pool of pools.values()) pool.on(event, listener);
      },
    },
    goTo(to) {
      current = open(to);
    },
  };
}
