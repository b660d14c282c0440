import { randomBytes } from 'node:crypto';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { startRedis } from '@ori/test-env/redis';
import { openAdmin } from '@ori/test-env/redis-admin';
import { expect, it } from 'vitest';
import { query, startLedgerServer } from '../wings/postgres/world.ts';

const CALL = { path: '/a', body: '{}', user: 'user_ada' };

it.each([
  ['redis', 'GUARD_REDIS_URL', () => startRedis()],
  ['postgres', 'GUARD_DATABASE_URL', () => startLedgerServer()],
])(
  '%s remembers spent proofs, and while it is away nothing reaches the daemon',
  async (replay, url, start) => {
    await using server = await start();
    await using world = await openGuardWorld({ env: { GUARD_REPLAY: replay, [url]: server.url } });
    const answerTo = async (request: string) => {
      const { status, body } = await world.raw(request);
      return status === 200 ? 'accepted' : JSON.parse(body).error.code;
    };
    let request = '';
    // Proofs from before the store was ready are refused.
    const present = () => {
      request = world.signed(CALL);
      return answerTo(request);
    };
    await expect.poll(present, { interval: 200 }).toBe('accepted');
    expect(await answerTo(request)).toBe('nonce_replayed');
    expect(world.seen).toHaveLength(1);
    expect(await (await fetch(`${world.guard.opsUrl}/readyz`)).json()).toMatchObject({
      checks: { replay: 'ok' },
    });
    await server.kill();
    expect(await answerTo(world.signed(CALL))).toMatch(/^replay_store_/);
    expect((await fetch(`${world.guard.opsUrl}/readyz`)).status).toBe(503);
    expect(world.seen).toHaveLength(1);
  },
  30_000,
);

it.each([
  [
    'redis',
    'GUARD_REDIS_URL',
    () => startRedis(),
    async (url: string) => {
      const redis = openAdmin(url);
      const stored = String(await redis.mget(await redis.keys('*:answer:*')));
      redis.disconnect();
      return stored;
    },
  ],
  [
    'postgres',
    'GUARD_DATABASE_URL',
    () => startLedgerServer(),
    async (url: string) => JSON.stringify(await query(url, 'SELECT * FROM ori_replay.answer')),
  ],
])(
  '%s has no byte of an answer under GUARD_ANSWERS_KEY',
  async (replay, url, start, storedIn) => {
    await using server = await start();
    const GUARD_ANSWERS_KEY = randomBytes(32).toString('base64');
    await using world = await openGuardWorld({
      env: { GUARD_REPLAY: replay, [url]: server.url, GUARD_ANSWERS: 'true', GUARD_ANSWERS_KEY },
      daemon: (_req, res) => void res.writeHead(200, { 'x-own': 'secret' }).end('private'),
    });
    let nonce: string | undefined;
    const call = async () => {
      const request = world.signed(CALL);
      nonce = /x-ori-invoke-nonce: *(\S+)/i.exec(request)?.[1];
      return (await world.raw(request)).status;
    };
    await expect.poll(call, { interval: 200 }).toBe(200);
    const question = { path: `/.well-known/ori/calls/${nonce}`, body: '', user: CALL.user };
    const ask = async () => (await world.raw(world.signed(question))).headers.get('ori-answer');
    await expect.poll(ask).toBe('kept');
    const stored = await storedIn(server.url);
    expect(stored).toContain(CALL.user);
    const plain = ['x-own', 'secret', 'status', Buffer.from('private').toString('base64').slice(0, 8)];
    expect(plain.filter((text) => stored.includes(text))).toEqual([]);
  },
  30_000,
);

it('with GUARD_REPLAY_REPLICAS, accepts nothing from a server that has no replica', async () => {
  await using server = await startRedis();
  await using world = await openGuardWorld({
    env: { GUARD_REPLAY: 'redis', GUARD_REDIS_URL: server.url, GUARD_REPLAY_REPLICAS: '1' },
  });
  const present = async () => JSON.parse((await world.raw(world.signed(CALL))).body).error.code;
  await expect.poll(present, { interval: 200 }).toBe('replay_store_unsafe');
  expect(world.seen).toEqual([]);
});
