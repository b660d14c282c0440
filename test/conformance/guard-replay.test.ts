import { openGuardWorld } from '@ori/test-env/guard-world';
import { startRedis } from '@ori/test-env/redis';
import { startLedgerServer } from '@ori/test-env/verifier/postgres-world';
import { expect, it } from 'vitest';

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
