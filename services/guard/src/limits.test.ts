import { type GuardWorld, openGuardWorld } from '@ori/test-env/guard-world';
import { rawClient } from '@ori/test-env/raw-client';
import { expect, it, onTestFinished } from 'vitest';

const CALL = { path: '/a', body: '{"a":1}', user: 'user_ada' };

/** Two signed calls whose last byte does not arrive: half of what may be in progress. */
async function fillHalf(world: GuardWorld): Promise<void> {
  for (let index = 0; index < 2; index += 1) {
    const client = await rawClient(world.port);
    onTestFinished(() => client[Symbol.dispose]());
    client.send(world.signed(CALL).slice(0, -1));
  }
}

it.each(['proxy', 'ext_authz'])(
  'in mode %s, in overload, serves a person who was just served',
  async (mode) => {
    await using world = await openGuardWorld({
      env: { GUARD_MODE: mode, GUARD_REQUESTS_IN_FLIGHT_MAX: '4' },
    });
    expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
    await fillHalf(world);
    expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
  },
);

it('refuses a call of a person who has too many in progress, and not one of another', async () => {
  await using world = await openGuardWorld({
    env: { GUARD_REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: '1' },
    daemon: ({ url }, res) => void (url !== '/wait' && res.end('ok')),
  });
  const waiting = await rawClient(world.port);
  waiting.send(world.signed({ ...CALL, path: '/wait' }));
  await expect.poll(() => world.seen.length).toBe(1);
  const request = world.signed(CALL);
  const refused = await world.raw(request);
  expect([refused.status, refused.headers.get('cache-control')]).toEqual([503, 'no-store']);
  expect(JSON.parse(refused.body).error.code).toBe('busy');
  expect(await world.raw(world.signed({ ...CALL, user: 'user_grace' }))).toMatchObject({ status: 200 });
  // Its proof is not spent.
  waiting[Symbol.dispose]();
  await expect.poll(() => world.raw(request)).toMatchObject({ status: 200 });
});

it('accepts no proof that is older than GUARD_MAX_AGE_SECONDS', async () => {
  await using world = await openGuardWorld({ env: { GUARD_MAX_AGE_SECONDS: '5' } });
  const timestamp = Math.floor(Date.now() / 1000) - 6;
  const refused = await world.raw(world.signed({ ...CALL, timestamp }));
  expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([401, 'proof_expired']);
  expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
});
