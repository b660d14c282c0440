import { startRedis } from '@ori/test-env/redis';
import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { startSignerWorld, useSignerWorld } from '../signer-world.ts';
import { createDpopWorld, steadyClock } from './dpop-world.ts';

const clock = steadyClock();
const world = await useSignerWorld({
  parts: { now: clock, clocks: {} },
  environment: { REQUIRE_DPOP: 'true' },
});

test('if bound sessions are required, every unbound one is refused, and the metadata says so', async () => {
  const opaque = world.issuer.opaqueToken();
  for (const bearer of [await world.token(), opaque]) {
    expectRefusal(await world.sign({ bearer }), { status: 403, reason: 'dpop_required' });
  }
  const metadata = await world.request({ path: '/.well-known/oauth-protected-resource/v1' });
  expect(metadata.json()).toMatchObject({ dpop_bound_access_tokens_required: true });
  expect(await world.auditLines()).toEqual([]);
});

test('a bound session gets a proof, and an API key is refused as an API key', async () => {
  expect((await (await createDpopWorld(world, clock)).send()).status).toBe(200);
  const answer = await world.sign({ bearer: world.tenants.apiKey });
  expectRefusal(answer, { status: 403, reason: 'personal_identity_required' });
});

test.each(['freeze', 'stop'] as const)('without Redis, no DPoP proof is accepted: %s', async (fault) => {
  await using redis = await startRedis();
  const clock = steadyClock();
  await using broken = await startSignerWorld({ redis, parts: { now: clock, clocks: {} } });
  const dpop = await createDpopWorld(broken, clock);
  const proofs = [await dpop.proof()];
  await redis[fault]();
  expectRefusal(await dpop.send({ proofs }), { status: 500, reason: 'internal_error', retryable: true });
  expect(await broken.auditLines()).toEqual([]);
  if (fault === 'freeze') await redis.thaw();
});
