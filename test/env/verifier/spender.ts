import { Redis } from 'ioredis';
import pg from 'pg';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import { postgresReplayStore } from '../../../libs/public/verifier/src/replay/postgres/store.ts';
import { redisReplayStore } from '../../../libs/public/verifier/src/replay/redis/store.ts';
import { createVerifier } from '../../../libs/public/verifier/src/verifier.ts';
import { STRICT } from './strict-client.ts';

/** The settings from the parent test. */
export interface SpenderTask {
  /** The URL of a Redis or PostgreSQL. */
  readonly url: string;
  readonly internId: string;
  readonly jwks: unknown;
  readonly mode: 'spend' | 'redeem';
  readonly target: string;
  readonly rawHeaders: string[];
  readonly body: string;
  readonly copies: number;
}

/** How often each verdict was given. */
export type SpenderReport = Record<string, number>;

/** Enough to race, but few enough that on a busy machine none waits for seconds before it is sent. */
const AT_ONCE = 100;
const PATIENT_MS = 5000;

// Reports readiness, waits to be told, presents the same proof many times concurrently, and reports the verdicts.
process.once('message', async (task: SpenderTask) => {
  const { replay, close } = task.url.startsWith('redis') ? await openRedis(task) : openPostgres(task);
  const keys = createLocalKeySet(task.jwks);
  const verifier = createVerifier({ internId: task.internId, keys, replay });
  await replay.touch();
  const request = {
    method: 'POST',
    target: task.target,
    rawHeaders: task.rawHeaders,
    body: Buffer.from(task.body),
  };
  process.send?.('ready');
  process.once('message', async () => {
    const report: SpenderReport = {};
    const present = async (): Promise<void> => {
      const verdict = await verifier.verify(request).then(
        () => 'accepted',
        (error: { code?: string }) => error.code ?? 'no code',
      );
      report[verdict] = (report[verdict] ?? 0) + 1;
    };
    for (let left = task.copies; left > 0; left -= AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, present));
    }
    process.send?.(report);
    await close();
    process.disconnect();
  });
});

async function openRedis({ url, mode }: SpenderTask) {
  const redis = new Redis(url, { ...STRICT, lazyConnect: true });
  await redis.connect();
  const replay = redisReplayStore(redis, { mode, timeoutMs: PATIENT_MS });
  const close = async (): Promise<void> => {
    replay.close();
    redis.disconnect();
  };
  return { replay, close };
}

function openPostgres({ url }: SpenderTask) {
  const pool = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: PATIENT_MS });
  const replay = postgresReplayStore(pool, {
    replicas: 0,
    timeoutMs: PATIENT_MS,
    acquireMs: 2 * PATIENT_MS,
  });
  const close = async (): Promise<void> => {
    replay.close();
    await pool.end();
  };
  return { replay, close };
}
