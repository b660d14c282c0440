import { expect, test } from 'vitest';
import { startSignerWorld } from '../signer-world.ts';

const headers = { 'x-request-id': 'from-the.gateway_1' };

test('the request id of a trusted gateway is used in response, log and audit line', async () => {
  await using world = await startSignerWorld({ environment: { TRUST_GATEWAY: 'true' } });
  const answer = await world.sign({ headers });
  expect(answer.headers['x-request-id']).toBe(headers['x-request-id']);
  expect((await world.auditLines()).at(-1)).toMatchObject({ requestId: headers['x-request-id'] });
  await expect.poll(() => world.signer.output.join('')).toContain(`"requestId":"${headers['x-request-id']}"`);
  expect((await world.sign({ headers: { 'x-request-id': 'a b' } })).headers['x-request-id']).not.toBe('a b');
});

test('a new request id is generated otherwise, for every kind of response', async () => {
  await using world = await startSignerWorld();
  const answers = await Promise.all([
    world.sign({ headers }),
    world.sign({ headers, bearer: null }),
    world.request({ path: '/', headers }),
    world.request({ path: `/v1/interns/${world.tenants.internId}/daemon/jwks.json`, headers }),
  ]);
  const ids = answers.map((answer) => answer.headers['x-request-id']);
  expect(new Set(ids).size).toBe(answers.length);
  expect(ids).not.toContain(headers['x-request-id']);
});
