import { chmod, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '@ori/store/migrate';
import { openPostgres } from '@ori/store/postgres';
import { Redis } from 'ioredis';
import { afterAll, expect, test, vi } from 'vitest';
import { createDatabase } from '../env/postgres.ts';
import { startRedis } from '../env/redis.ts';
import { openRoom } from '../env/room.ts';
import { startWorld } from '../env/world.ts';
import { run } from './signer-process.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const room = stack.use(await openRoom('ori-refusals'));
const redis = stack.use(await startRedis());
const world = stack.use(await startWorld({ redis }));
const database = stack.use(await createDatabase());
const owner = openPostgres({ url: database.url, poolMax: 1 });
await migrate(owner);
await owner.close();

/** A generous timeout for busy machines. */
const PATIENT = { timeout: 20_000 };
vi.setConfig({ testTimeout: 90_000 });

const kek = world.environment['SIGNER_KEK_FILE'] ?? '';
const signer = { ...world.environment, SIGNER_PORT: '0', SIGNER_OPS_PORT: '0' };
const management = {
  MANAGEMENT_PORT: '0',
  MANAGEMENT_OPS_PORT: '0',
  MANAGEMENT_DATABASE_URL: database.managementUrl,
  MANAGEMENT_ISSUER: world.issuer.url,
  MANAGEMENT_AUDIENCE: world.baseUrl,
  MANAGEMENT_KEK_FILE: world.managementKekFile,
};

const SERVICES = [
  ['ori-signer', signer, 'SIGNER'],
  ['ori-management', management, 'MANAGEMENT'],
] as const;

async function openFile(content: string | undefined, mode: number): Promise<string> {
  const path = join(room.directory, `${Math.random()}`);
  await writeFile(path, content ?? '');
  await chmod(path, mode);
  return path;
}

test.each(SERVICES)(
  '%s refuses a key-encryption key or secret that other users can read',
  async (entry, env, prefix) => {
    const open = join(room.directory, `${prefix}-kek.json`);
    await copyFile(kek, open);
    await chmod(open, 0o644);
    const { [`${prefix}_DATABASE_URL` as keyof typeof env]: url, ...rest } = env;
    const inFile = async (mode: number) => ({
      ...rest,
      [`${prefix}_DATABASE_URL_FILE`]: await openFile(url, mode),
    });
    const [ring, secret, closed] = await Promise.all(
      [{ ...env, [`${prefix}_KEK_FILE`]: open }, await inFile(0o604), await inFile(0o440)].map((one) =>
        run(entry, one, ['check-config']),
      ),
    );
    expect(ring).toMatchObject({ code: 2, stdout: '' });
    expect(ring?.stderr).toContain(
      `${prefix}_KEK_FILE: "${open}" is a secret that everyone on this machine may open`,
    );
    expect(secret).toMatchObject({ code: 2, stderr: expect.stringContaining('(mode 0604): chmod 0600') });
    expect(closed).toMatchObject({ code: 0, stderr: '' });
  },
);

test.each(SERVICES)('%s does not start on the login of the database owner', async (entry, env, prefix) => {
  const outcome = await run(entry, { ...env, [`${prefix}_DATABASE_URL`]: database.url });
  const { username, password } = new URL(database.url);
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toContain(`${prefix}_DATABASE_URL: this login may do more than the service needs`);
  expect(outcome.stderr).toContain(`${username} has the attribute SUPERUSER`);
  expect(outcome.stderr).toContain(`LOGIN PASSWORD '…' IN ROLE ori_${prefix.toLowerCase()};`);
  expect(outcome.stderr).not.toContain(password);
});

test('the signer does not start on a Redis that evicts', async () => {
  const admin = new Redis(redis.url);
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const outcome = await run('ori-signer', signer);
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  admin.disconnect();
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toContain(
    'SIGNER_REDIS_URL: the server evicts: its maxmemory-policy is allkeys-lru',
  );
  expect(outcome.stderr).toContain('CONFIG SET maxmemory-policy noeviction');
});

test('if the flags are required, nothing starts without them', async () => {
  const outcome = await run('main', { ...signer, SIGNER_REQUIRE_HARDENED: 'true' });
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toMatch(/SIGNER_REQUIRE_HARDENED: .*start processes.*ori-signer\.js/);
});

test.each([
  [{ NODE_OPTIONS: '--allow-worker' }, 'NODE_OPTIONS: "--allow-worker"'],
  [{ NODE_OPTIONS: '--inspect=127.0.0.1:0' }, 'NODE_OPTIONS: "--inspect"'],
  [{ LD_LIBRARY_PATH: '/tmp' }, 'LD_LIBRARY_PATH'],
  [{ NODE_DEBUG: 'http' }, 'NODE_DEBUG'],
  [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'NODE_TLS_REJECT_UNAUTHORIZED'],
])('the environment cannot weaken the start: %j', async (names, words) => {
  const outcome = await run('ori-signer', { ...signer, ...names }, ['check-config']);
  expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(words) });
});

test('while a Redis of a running signer evicts, nothing is signed', async () => {
  const admin = new Redis(redis.url);
  const gauge = async () =>
    /^signer_nonce_store_unsafe(?:\{.*\})? (\d)$/m.exec((await world.page('/metrics')).text)?.[1];
  // A test before this one let the same Redis evict for a moment.
  await expect.poll(gauge, PATIENT).toBe('0');
  await expect.poll(async () => (await world.sign()).status, PATIENT).toBe(200);
  const before = await world.audit();
  await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await expect
    .poll(async () => (await world.page('/readyz')).text, PATIENT)
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
  await expect.poll(async () => (await world.sign()).status, PATIENT).toBe(200);
  admin.disconnect();
});
