import { FileTolerantClient } from '@ori/postgres/file-tolerant-client';
import { connectRedis } from '@ori/redis/connection';
import type { Logger } from '@ori/runtime/log';
import type { Secret } from '@ori/runtime/secret';
import { memoryReplayStore, type ReplayStore } from '@ori/verifier';
import { redisReplayStore } from '@ori/verifier/redis';
import pg from 'pg';
import type { GuardConfig } from './config.ts';

/** Where the guard remembers spent proofs. */
export interface Replay {
  readonly store: ReplayStore;
  /** Whether a spend would succeed now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 10;
const CONNECT_MS = 1000;

/** Opens the store of `GUARD_REPLAY`, without waiting for its server: while that is down, proofs are refused. */
export async function openReplay(
  config: Pick<GuardConfig, 'replay' | 'redisUrl' | 'databaseUrl' | 'replayReplicas' | 'answersKey'>,
  { log, now }: { readonly log: Logger; readonly now: () => number },
): Promise<Replay> {
  const { replay, replayReplicas: replicas } = config;
  const answersKey = config.answersKey && Buffer.from(config.answersKey.reveal(), 'base64');
  if (replay === 'memory') {
    const clocks = now === Date.now ? {} : { now };
    return { store: memoryReplayStore(clocks), async check() {}, async close() {} };
  }
  if (replay === 'redis') {
    const redis = connectRedis(config.redisUrl as Secret, { purpose: 'guard', log });
    const store = redisReplayStore(redis, { mode: 'spend', replicas, answersKey });
    return onServer(store, () => redis.disconnect());
  }
  const { postgresReplayStore } = await import('@ori/verifier/postgres');
  const pool = new pg.Pool({
    Client: FileTolerantClient,
    connectionString: (config.databaseUrl as Secret).reveal(),
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'ori-guard',
  });
  return onServer(postgresReplayStore(pool, { replicas, answersKey }), () => pool.end());
}

const onServer = (store: ReturnType<typeof redisReplayStore>, disconnect: () => unknown): Replay => ({
  store,
  check: () => store.touch(),
  async close() {
    store.close();
    await disconnect();
  },
});
