import { join } from 'node:path';
import { createLogger } from '@ori/runtime/log';
import { loadSignerConfig, startSigner } from '@ori/signer';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createDatabase } from '../env/postgres.ts';
import { startRedis } from '../env/redis.ts';
import { startTcpProxy } from '../env/tcp-proxy.ts';
import { startWorld } from '../env/world.ts';
import { signAt } from './signer-process.ts';

/** A generous timeout for busy machines. */
const PATIENT = { timeout: 20_000 };

/** A dependency whose connections are closed as soon as they open. */
async function absent(url: string) {
  const address = new URL(url);
  const proxy = await startTcpProxy(Number(address.port));
  proxy.set('shut');
  address.host = `127.0.0.1:${proxy.port}`;
  return Object.assign(proxy, { url: address.href });
}

/** A signer of this world with one changed variable. */
async function startBeside(world: Awaited<ReturnType<typeof startWorld>>, differs: Record<string, string>) {
  const audit = join(world.environment['SIGNER_AUDIT_FILE'] ?? '', '../late.jsonl');
  const config = loadSignerConfig({
    ...world.environment,
    SIGNER_PORT: '0',
    SIGNER_OPS_PORT: '0',
    SIGNER_AUDIT_FILE: audit,
    ...differs,
  });
  const log = createLogger({ service: 'signer', level: 'silent' });
  const signer = await startSigner(config, { log });
  const readyz = async () => {
    const answer = await fetch(`${signer.opsUrl}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, string> };
    return { status: answer.status, ...checks };
  };
  return { readyz, sign: () => signAt(signer.url, world), [Symbol.asyncDispose]: () => signer.stop() };
}

test('with an overprivileged login on a database that comes up after the start, nothing is signed', {
  timeout: 60_000,
}, async () => {
  await using world = await startWorld();
  const name = new URL(world.environment['SIGNER_DATABASE_URL'] ?? '').pathname;
  await using database = await createDatabase();
  const owner = new URL(database.url);
  owner.pathname = name;
  await using late = await absent(owner.href);
  await using signer = await startBeside(world, { SIGNER_DATABASE_URL: late.url });
  expect(await signer.readyz()).toMatchObject({ status: 503, postgresql: 'failing: unreachable' });
  late.set('open');
  await expect
    .poll(signer.readyz, PATIENT)
    .toMatchObject({ status: 503, postgresql: 'failing: overprivileged' });
  expect(await signer.sign()).toBe(500);
  await expect.poll(() => world.sign(), PATIENT).toMatchObject({ status: 200 });
});

test('a Redis that comes up after the start is used only once it does not evict', {
  timeout: 60_000,
}, async () => {
  await using redis = await startRedis();
  await using admin = {
    client: new Redis(redis.url),
    [Symbol.asyncDispose]: async () => admin.client.disconnect(),
  };
  await admin.client.config('SET', 'maxmemory-policy', 'allkeys-random');
  await using world = await startWorld();
  await using late = await absent(redis.url);
  await using signer = await startBeside(world, { SIGNER_REDIS_URL: late.url });
  expect(await signer.readyz()).toMatchObject({ status: 503, redis: expect.stringMatching(/^failing: /) });
  late.set('open');
  await expect.poll(signer.readyz, PATIENT).toMatchObject({ status: 503, redis: 'failing: redis_evicts' });
  expect(await signer.sign()).toBe(500);
  expect(await admin.client.dbsize()).toBe(0);
  await admin.client.config('SET', 'maxmemory-policy', 'noeviction');
  await admin.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await expect.poll(signer.readyz, PATIENT).toMatchObject({ status: 200 });
  await expect.poll(signer.sign, PATIENT).toBe(200);
});
