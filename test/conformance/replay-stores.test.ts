import { sharedRedisUrl } from '@ori/test-env/redis';
import { openPool, startLedgerServer } from '@ori/test-env/verifier/postgres-world';
import { connect } from '@ori/test-env/verifier/redis-world';
import { postgresReplayStore } from '@ori/verifier/postgres';
import { redisReplayStore } from '@ori/verifier/redis';
import { requireReplayStore } from '@ori/verifier/testing';
import { onTestFinished, test } from 'vitest';

/** Waits for as long as the stores must remember a proof: 32 s. Their servers have clocks of their own. */
const WAITING = { clock: 'real', maxAgeSeconds: 1, clockToleranceSeconds: 1 } as const;

test('the Redis and the PostgreSQL store do what a verifier relies on', async () => {
  const redis = await connect(sharedRedisUrl());
  const server = await startLedgerServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const pool = openPool(server.url);
  await Promise.all([
    requireReplayStore({
      ...WAITING,
      open: () => closing(redisReplayStore(redis, { mode: 'spend', timeoutMs: 5000 })),
    }),
    requireReplayStore({
      ...WAITING,
      open: () => closing(postgresReplayStore(pool, { replicas: 0, timeoutMs: 5000 })),
    }),
  ]);
}, 180_000);

function closing<Store extends { close(): void }>(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}
