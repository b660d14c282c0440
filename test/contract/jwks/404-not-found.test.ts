import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();

test.each(['int.7', '_x', 'x'.repeat(129), '%ff', '%', 'a%2Fb', '%00'])(
  'an invalid id (%s) is not found',
  async (id) => {
    const answer = await world.request({ path: `/v1/interns/${id}/daemon/jwks.json` });
    expectRefusal(answer, { status: 404, reason: 'not_found' });
    expect(answer.headers['etag']).toBeUndefined();
  },
);

test.each(['jwks', 'jwks.json/', 'JWKS.json', 'jwks%2Ejson'])('%s is not found', async (name) => {
  const path = `/v1/interns/${world.tenants.internId}/daemon/${name}`;
  expectRefusal(await world.request({ path }), { status: 404, reason: 'not_found' });
});
