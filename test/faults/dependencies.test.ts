import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { startWorld, type World } from '../env/world.ts';

// The answers to each credential under each fault: matrix.test.ts.

/** The contract's time limit for every answer while a dependency is missing. */
const ANSWER_MS_MAX = 1000;
/** How long the facts of an introspected token may be cached. */
const INTROSPECTION_MEMORY_MS = 5000;

const stack = new AsyncDisposableStack();
let redis: RedisServer;
let postgres: PostgresServer;
let world: World;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  stack.use(redis);
  stack.use(postgres);
  world = stack.use(await startWorld({ process: true, redis, postgres }));
});
afterAll(() => stack.disposeAsync());

test('an opaque token is accepted for at most 5 s without its issuer', async () => {
  const seen = world.issuer.opaqueToken();
  expect((await world.sign({ bearer: seen })).status).toBe(200);
  await world.issuer.stop();
  try {
    expect((await world.sign({ bearer: seen })).status).toBe(200);
    await pause(INTROSPECTION_MEMORY_MS);
    expect((await world.sign({ bearer: seen })).status).toBe(500);
  } finally {
    await world.issuer.start();
  }
});

test('a signer that starts without its dependencies reports it and works once they are up', async () => {
  await world.signer.stop();
  await Promise.all([redis.stop(), postgres.stop(), world.issuer.stop()]);
  try {
    await world.signer.start();
    const { status, text } = await world.page('/readyz');
    expect(status).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ checks: { audit: 'ok' } });
    const reply = await world.sign();
    expect(reply.status).toBe(500);
    expect(reply.milliseconds).toBeLessThan(ANSWER_MS_MAX);
  } finally {
    await Promise.all([redis.start(), postgres.start(), world.issuer.start()]);
  }
  await world.ready();
  await expect.poll(async () => (await world.sign()).status, { timeout: 30_000, interval: 20 }).toBe(200);
});
