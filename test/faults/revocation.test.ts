import { setTimeout as pause } from 'node:timers/promises';
import { addSigningKey, revokeSigningKey } from '@ori/administration/signing-keys';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
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
import { startLedger } from '../wings/exactly-once/postgres-single.ts';

const VERIFIERS = 4;
const PRESENT_EVERY_MS = 150;
const LEARNT_WITHIN_MS = 2000;

/** Of each kind. */
async function openStores(stack: AsyncDisposableStack): Promise<(() => ReplayStore)[]> {
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
  return [() => memoryReplayStore(), () => onRedis, () => onPostgres];
}

test('verifiers with every kind of store refuse a revoked key within two seconds, also if the key set URL is cut off in the same moment', {
  timeout: 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld());
  const { internId, seed } = world.demo;
  await addSigningKey(world.store, { internId, sealer: parseKekRing(world.kekText) });
  const [former] = await world.store.kysely
    .selectFrom('signing_keys')
    .select('id')
    .orderBy('created_at')
    .execute();
  const stores = await openStores(stack);
  /** So many for each kind of store, which check every second whether a key was revoked. */
  const startVerifiers = async () => {
    const gateway = stack.use(await startTcpProxy(Number(new URL(world.baseUrl).port)));
    const jwksUrl = `http://127.0.0.1:${gateway.port}/v1/interns/${internId}/daemon/jwks.json`;
    const verifiers = stores.flatMap((replay) =>
      Array.from({ length: VERIFIERS }, () => {
        const keys = createRemoteKeySet(jwksUrl, { revocationCheckSeconds: 1 });
        stack.defer(() => keys.close());
        return createVerifier({ internId, keys, replay: replay() });
      }),
    );
    return { gateway, verifiers };
  };
  const [reached, cutOff] = [await startVerifiers(), await startVerifiers()];
  const verifiers = [...reached.verifiers, ...cutOff.verifiers];
  const thief = createTestSigner({ internId, seed });
  const accepts = (verifier: Verifier): Promise<boolean> =>
    verifier.verify(thief.request({ path: '/', body: '{}' })).then(
      () => true,
      () => false,
    );

  // A store accepts nothing that was signed before it was created.
  await Promise.all(
    verifiers.map((verifier) => expect.poll(() => accepts(verifier), { timeout: 60_000 }).toBe(true)),
  );
  let isOver = false;
  const lastAccepted = verifiers.map(() => Number.NEGATIVE_INFINITY);
  const presenting = verifiers.map(async (verifier, index) => {
    await pause((index * PRESENT_EVERY_MS) / verifiers.length);
    while (!isOver) {
      if (await accepts(verifier)) lastAccepted[index] = performance.now();
      await pause(PRESENT_EVERY_MS);
    }
  });
  await pause(1500);
  await revokeSigningKey(world.store, { keyId: former?.id ?? '' });
  const revoked = performance.now();
  cutOff.gateway.set('shut');
  cutOff.gateway.cut();
  await pause(2 * LEARNT_WITHIN_MS);
  isOver = true;
  await Promise.all(presenting);
  const learnt = lastAccepted.map((at) => Math.round(at - revoked)).toSorted((a, b) => a - b);
  console.log(`revoked: last accepted by ${learnt.length} verifiers after so many ms:`, learnt.join(' '));
  expect(learnt.at(-1)).toBeLessThanOrEqual(LEARNT_WITHIN_MS);
  // By now every verifier must refuse.
  for (const verifier of verifiers) expect(await accepts(verifier)).toBe(false);
});
