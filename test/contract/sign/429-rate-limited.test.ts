import { setTurnLimits } from '@ori/administration/organizations';
import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { startSignerWorld } from '../signer-world.ts';

const limited = { status: 429, reason: 'rate_limited', retryable: true };

test('a user has the configured number of turns, then none until the window ends', async () => {
  await using world = await startSignerWorld({
    environment: { TURNS_PER_USER: '2', TURN_WINDOW_SECONDS: '30' },
  });
  expect((await world.sign()).headers['ratelimit']).toMatch(/^"user";r=1;t=30$/);
  expect((await world.sign()).headers['ratelimit']).toMatch(/^"user";r=0;t=\d+$/);
  const answer = await world.sign();
  expectRefusal(answer, limited);
  const { 'retry-after': retryAfter, ratelimit } = answer.headers;
  expect(retryAfter).toMatch(/^([1-9]|[12]\d|30)$/);
  expect(ratelimit).toBe(`"user";r=0;t=${retryAfter}`);
  expect(answer.headers['ratelimit-policy']).toBe('"user";q=2;w=30, "organization";q=10000000;w=30');
});

test('a turn refused for the organization does not charge the user', async () => {
  await using world = await startSignerWorld({ environment: { TURNS_PER_ORGANIZATION: '1' } });
  expect((await world.sign()).status).toBe(200);
  const answer = await world.sign();
  expectRefusal(answer, limited);
  expect(answer.headers['ratelimit']).toMatch(/^"organization";r=0;t=\d+$/);
  expect(await world.turnsUsed()).toEqual({ user: 1, organization: 1 });
});

test('the limits of an organization replace the configured ones', async () => {
  await using world = await startSignerWorld({ environment: { TURNS_PER_USER: '5' } });
  const { organizationId } = world.tenants;
  await setTurnLimits(world.store, { organizationId, turnsPerUser: 1, turnsPerOrganization: 2 });
  const { headers } = await world.sign();
  expect(headers['ratelimit-policy']).toMatch(/^"user";q=1;w=\d+, "organization";q=2;w=/);
  expectRefusal(await world.sign(), limited);
});

test('a refused turn leaves no nonce and no audit line behind', async () => {
  await using world = await startSignerWorld({ environment: { TURNS_PER_USER: '1' } });
  expect((await world.sign()).status).toBe(200);
  expectRefusal(await world.sign(), limited);
  expect(await world.auditLines()).toHaveLength(1);
  expect(await world.redis.keys(`ori:{${world.tenants.internId}}:issued:*`)).toHaveLength(1);
});
