import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld, V1_BODY } from '../signer-world.ts';

const world = await useSignerWorld();
const refused = { status: 413, reason: 'payload_too_large' };
const body = V1_BODY.padEnd(1_048_577);

test('1048577 announced bytes are refused', async () => {
  expectRefusal(await world.sign({ body }), refused);
});

test('1048577 chunked bytes are refused', async () => {
  const path = `/v1/interns/${world.tenants.internId}/daemon/sign`;
  const headers = {
    authorization: `Bearer ${await world.issuer.token()}`,
    'content-type': 'application/json',
  };
  const answer = await world.request({
    method: 'POST',
    path,
    headers,
    body: [body.slice(0, 1000), body.slice(1000)],
  });
  expectRefusal(answer, refused);
  expect(answer.headers['connection']).toBe('close');
});
