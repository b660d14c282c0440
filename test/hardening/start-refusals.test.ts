import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { migrate } from '@ori/store/migrate';
import { openPostgres } from '@ori/store/postgres';
import { Redis } from 'ioredis';
import { afterAll, expect, test, vi } from 'vitest';
import { createDatabase } from '../env/postgres.ts';
import { startRedis } from '../env/redis.ts';
import { startWorld } from '../env/world.ts';
import { run } from './signer-process.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const redis = stack.use(await startRedis());
const world = stack.use(await startWorld({ redis }));
const database = stack.use(await createDatabase());
const owner = openPostgres({ url: database.url, poolMax: 1 });
await migrate(owner);
await owner.close();

/** A generous timeout for busy machines. */
vi.setConfig({ testTimeout: 90_000 });

const signer = { ...world.environment, SIGNER_PORT: '0', SIGNER_OPS_PORT: '0' };
const kekFile = join(dirname(world.environment['SIGNER_KEK_FILE'] ?? ''), 'management-kek.json');
await writeFile(kekFile, world.managementKekText, { mode: 0o600 });
const management = {
  MANAGEMENT_PORT: '0',
  MANAGEMENT_OPS_PORT: '0',
  MANAGEMENT_DATABASE_URL: database.managementUrl,
  MANAGEMENT_ISSUER: world.issuer.url,
  MANAGEMENT_AUDIENCE: world.baseUrl,
  MANAGEMENT_KEK_FILE: kekFile,
};

test.each([
  ['ori-signer', signer, 'SIGNER'],
  ['ori-management', management, 'MANAGEMENT'],
] as const)('%s does not start on the login of the database owner', async (entry, env, prefix) => {
  const admin = new Redis(redis.url);
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const start = () => run(entry, { ...env, [`${prefix}_DATABASE_URL`]: database.url });
  let outcome = await start();
  // A database that does not answer in time, on a busy machine, is judged once it does.
  if (!outcome.stderr.includes('this login')) outcome = await start();
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  admin.disconnect();
  const { username, password } = new URL(database.url);
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toContain(`${prefix}_DATABASE_URL: this login may do more than the service needs`);
  expect(outcome.stderr).toContain(`${username} has the attribute SUPERUSER`);
  expect(outcome.stderr).not.toContain(password);
  // Both reasons are told at once.
  const evicts = 'SIGNER_REDIS_URL: the server evicts: its maxmemory-policy is allkeys-lru';
  expect(outcome.stderr.includes(evicts)).toBe(entry === 'ori-signer');
});

test('if the flags are required, nothing starts without them', async () => {
  const outcome = await run('main', { ...signer, SIGNER_REQUIRE_HARDENED: 'true' });
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toMatch(/SIGNER_REQUIRE_HARDENED: .*start processes.*ori-signer\.js/);
});

test('while a Redis of a running signer evicts, nothing is signed', async () => {
  const admin = new Redis(redis.url);
  const gauge = async () =>
    /^signer_nonce_store_unsafe(?:\{.*\})? (\d)$/m.exec((await world.page('/metrics')).text)?.[1];
  // The test before this one let the same Redis evict for a moment.
  await expect.poll(gauge).toBe('0');
  await expect.poll(async () => (await world.sign()).status).toBe(200);
  const before = await world.audit();
  await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await expect
    .poll(async () => (await world.page('/readyz')).text)
    .toContain('"redis":"failing: redis_evicts"');
  expect((await world.page('/readyz')).status).toBe(503);
  expect(await gauge()).toBe('1');
  const turns = await admin.keys('ori:turns:*');
  const spent = await Promise.all(turns.map((key) => admin.get(key)));
  const refused = await world.sign();
  expect(refused.status).toBe(500);
  expect(JSON.parse(refused.text)).toMatchObject({ error: { metadata: { reason: 'internal_error' } } });
  expect(await world.audit()).toBe(before);
  expect(await Promise.all(turns.map((key) => admin.get(key)))).toEqual(spent);
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await world.ready();
  expect(await gauge()).toBe('0');
  await expect.poll(async () => (await world.sign()).status).toBe(200);
  admin.disconnect();
});
