import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectRedis } from '@ori/redis/connection';
import { Secret } from '@ori/runtime/secret';
import { memoryNonces } from '@ori/signer/memory-nonces';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { redisNonces } from '../../../services/signer/src/effects/nonces.ts';
import { startPostgres } from '../../env/postgres.ts';
import { sharedRedisUrl, startRedis } from '../../env/redis.ts';
import { expectRefusal } from '../refusal.ts';
import { type SignerWorld, startSignerWorld } from '../signer-world.ts';

// test/faults has the response to each credential for each failing dependency, its time, and the recovery.

const redis = connectRedis(new Secret(sharedRedisUrl()), { purpose: 'test' });
await once(redis, 'ready');
afterAll(() => redis.disconnect());

const unavailable = { status: 500, reason: 'internal_error', retryable: true };

async function expectFailure(world: SignerWorld, dependency: string, bearer?: string): Promise<void> {
  const answer = await world.sign(bearer === undefined ? {} : { bearer });
  expectRefusal(answer, unavailable);
  expect(answer.headers['retry-after']).toBe('1');
  expect((await world.page('/metrics')).text).toMatch(
    new RegExp(`^signer_dependency_failures_total\\{dependency="${dependency}"\\} [1-9]`, 'm'),
  );
}

async function expectUnready(world: SignerWorld, dependency: string, why?: string): Promise<void> {
  const page = await world.page('/readyz');
  expect(page.status).toBe(503);
  const { checks } = JSON.parse(page.text) as { checks: Record<string, string> };
  const failing = Object.keys(checks).filter((name) => checks[name] !== 'ok');
  expect(failing).toEqual([dependency]);
  if (why !== undefined) expect(checks[dependency]).toBe(`failing: ${why}`);
}

test('without Redis there is no proof, and one that became a replica is named as one', async () => {
  await using redis = await startRedis();
  await using world = await startSignerWorld({ redis });
  using admin = Object.assign(new Redis(redis.url), { [Symbol.dispose]: () => admin.disconnect() });
  await admin.replicaof('127.0.0.1', 9);
  await expectFailure(world, 'redis');
  await expectUnready(world, 'redis', 'standby');
  await redis.stop();
  await expectFailure(world, 'redis');
  await expectUnready(world, 'redis');
  expect(await world.auditLines()).toEqual([]);
  await redis.start();
});

test('without PostgreSQL there is no proof; a standby is named as one, and used once it is promoted', async () => {
  await using postgres = await startPostgres();
  await using world = await startSignerWorld({ postgres });
  await postgres.stop();
  await expectFailure(world, 'postgresql');
  await expectUnready(world, 'postgresql');
  await writeFile(join(postgres.data, 'standby.signal'), '');
  await postgres.start();
  await expectFailure(world, 'postgresql');
  await expectUnready(world, 'postgresql', 'standby');
  expect(await world.auditLines()).toEqual([]);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('SELECT pg_promote()');
  await admin.end();
  await expect.poll(async () => (await world.sign()).status).toBe(200);
});

test('without the issuer, there is no proof for a new opaque token', async () => {
  await using world = await startSignerWorld();
  await world.issuer.stop();
  await expectFailure(world, 'issuer', world.issuer.opaqueToken());
});

test('without a writable audit file there is no proof, and the turn is refunded', async () => {
  await using world = await startSignerWorld({ environment: { AUDIT_FILE: '/dev/full' } });
  await expectFailure(world, 'audit');
  await expect.poll(() => world.turnsUsed()).toEqual({ user: 0, organization: 0 });
  await expectUnready(world, 'audit');
});

const repeated = () => 'AAECAwQFBgcICQoLDA0ODw';

test.each([
  ['memory', () => memoryNonces(65)],
  ['Redis', () => redisNonces(redis, 65)],
] as const)(
  'a random source that repeats itself yields no second proof with the same nonce: %s',
  async (_, open) => {
    await using world = await startSignerWorld({ parts: { nonces: { ...open(), draw: repeated } } });
    expect((await world.sign()).status).toBe(200);
    expectRefusal(await world.sign(), unavailable);
    expect(await world.auditLines()).toHaveLength(1);
    await expect.poll(() => world.turnsUsed()).toEqual({ user: 1, organization: 1 });
    expect((await world.page('/metrics')).text).toContain('signer_nonces_taken_total 3');
  },
);

test('a nonce that was already reserved is replaced without charging another turn', async () => {
  const store = redisNonces(redis, 65);
  let draws = 0;
  const nonces = { ...store, draw: () => (++draws <= 2 ? 'EBESExQVFhcYGRobHB0eHw' : store.draw()) };
  await using world = await startSignerWorld({ parts: { nonces } });
  expect((await world.sign()).status).toBe(200);
  const again = await world.sign();
  expect(again.status).toBe(200);
  expect(again.text).not.toContain('EBESExQVFhcYGRobHB0eHw');
  expect(await world.turnsUsed()).toEqual({ user: 2, organization: 2 });
  expect((await world.page('/metrics')).text).toContain('signer_nonces_taken_total 1');
});
