import { setTimeout as pause } from 'node:timers/promises';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { addSigningKey, revokeSigningKey } from '@ori/store/admin';
import {
  createRemoteKeySet,
  createVerifier,
  memoryReplayStore,
  type ReplayStore,
  type Verifier,
} from '@ori/verifier';
import { postgresReplayStore } from '@ori/verifier/postgres';
import { POSTGRES_REPLAY_SQL } from '@ori/verifier/postgres/schema';
import { redisReplayStore } from '@ori/verifier/redis';
import { createTestSigner } from '@ori/verifier/testing';
import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDatabase } from '../env/postgres.ts';
import { startRedis } from '../env/redis.ts';
import { startTcpProxy } from '../env/tcp-proxy.ts';
import { STRICT } from '../env/verifier/strict-client.ts';
import { startWorld } from '../env/world.ts';
import { startLedger } from '../lab/exactly-once/stores/postgres-single.ts';

const VERIFIERS = 4;
const PRESENT_EVERY_MS = 150;
const LEARNT_WITHIN_MS = 2000;

/** So many verifiers for each kind of replay store, which check every second whether a key was revoked. */
async function startVerifiers(internId: string, jwksUrl: string, stack: AsyncDisposableStack) {
  const server = stack.use(await startRedis());
  const redis = new Redis(server.url, { ...STRICT, lazyConnect: true });
  await redis.connect();
  stack.defer(() => redis.disconnect());
  // The replay store refuses a server that may lose acknowledged writes.
  const durable = stack.use(await startLedger());
  const database = stack.use(await createDatabase({ migrated: false, server: durable }));
  const pool = new pg.Pool({ connectionString: database.url, max: 10, connectionTimeoutMillis: 5000 });
  stack.defer(() => pool.end());
  await pool.query(POSTGRES_REPLAY_SQL);
  const onRedis = redisReplayStore(redis, { mode: 'spend', timeoutMs: 5000 });
  const onPostgres = postgresReplayStore(pool, { replicas: 0, timeoutMs: 5000 });
  stack.defer(() => onRedis.close());
  stack.defer(() => onPostgres.close());
  const replays: Record<string, () => ReplayStore> = {
    memory: () => memoryReplayStore(),
    redis: () => onRedis,
    postgres: () => onPostgres,
  };
  return Object.entries(replays).flatMap(([kind, replay]) =>
    Array.from({ length: VERIFIERS }, () => {
      const keys = createRemoteKeySet(jwksUrl, { revocationCheckSeconds: 1 });
      stack.defer(() => keys.close());
      return { kind, verifier: createVerifier({ internId, keys, replay: replay() }) };
    }),
  );
}

test.each(['answers', 'is cut off in the same moment'])(
  'verifiers with every kind of store refuse a revoked key within two seconds if the key set URL %s',
  { timeout: 120_000 },
  async (address) => {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await startWorld());
    const { internId, seed } = world.demo;
    const gateway = stack.use(await startTcpProxy(Number(new URL(world.baseUrl).port)));
    await addSigningKey(world.store, { internId, sealer: parseKekRing(world.kekText) });
    const [former] = await world.store.kysely
      .selectFrom('signing_keys')
      .select('id')
      .orderBy('created_at')
      .execute();
    const jwksUrl = `http://127.0.0.1:${gateway.port}/v1/interns/${internId}/daemon/jwks.json`;
    const verifiers = await startVerifiers(internId, jwksUrl, stack);
    const thief = createTestSigner({ internId, seed });
    const accepts = (verifier: Verifier): Promise<boolean> =>
      verifier.verify(thief.request({ path: '/', body: '{}' })).then(
        () => true,
        () => false,
      );

    // A store accepts nothing that was signed before it was created.
    await Promise.all(
      verifiers.map(({ verifier }) => expect.poll(() => accepts(verifier), { timeout: 60_000 }).toBe(true)),
    );
    let isOver = false;
    const lastAccepted = verifiers.map(() => Number.NEGATIVE_INFINITY);
    const presenting = verifiers.map(async ({ verifier }, index) => {
      await pause((index * PRESENT_EVERY_MS) / verifiers.length);
      while (!isOver) {
        if (await accepts(verifier)) lastAccepted[index] = performance.now();
        await pause(PRESENT_EVERY_MS);
      }
    });
    await pause(1500);
    await revokeSigningKey(world.store, { keyId: former?.id ?? '' });
    const revoked = performance.now();
    if (address !== 'answers') {
      gateway.set('shut');
      gateway.cut();
    }
    await pause(2 * LEARNT_WITHIN_MS);
    isOver = true;
    await Promise.all(presenting);
    const learnt = lastAccepted.map((at) => at - revoked).toSorted((a, b) => a - b);
    const p99 = learnt[Math.ceil(learnt.length * 0.99) - 1] ?? Number.NaN;
    console.log(
      `revoked, address ${address}: ${verifiers.length} verifiers, last accepted p50 ${Math.round(learnt[learnt.length >> 1] ?? 0)} ms, p99 ${Math.round(p99)} ms`,
    );
    expect(p99).toBeLessThanOrEqual(LEARNT_WITHIN_MS);
    // By now every verifier must refuse.
    for (const { verifier } of verifiers) expect(await accepts(verifier)).toBe(false);
  },
);
