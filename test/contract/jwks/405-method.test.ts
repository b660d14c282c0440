import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is not a method of the route', async (method) => {
  const answer = await world.request({
    path: `/v1/interns/${world.tenants.internId}/daemon/jwks.json`,
    method,
  });
  expectRefusal(answer, { status: 405 });
  expect(answer.headers['allow']).toBe('GET, HEAD');
});
