import { test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld, V1_BODY } from '../signer-world.ts';

const world = await useSignerWorld();
const refused = { status: 415, reason: 'unsupported_media_type' };

test.each([
  ['no Content-Type', undefined],
  ['text/plain', 'text/plain'],
  ['an empty type', ''],
])('%s is not application/json', async (_, contentType) => {
  const headers = {
    authorization: `Bearer ${await world.issuer.token()}`,
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  };
  const path = `/v1/interns/${world.tenants.internId}/daemon/sign`;
  expectRefusal(await world.request({ method: 'POST', path, headers, body: V1_BODY }), refused);
  expectRefusal(await world.request({ method: 'POST', path, headers, body: [V1_BODY] }), refused);
});

test.each(['gzip', ''])('a content encoding of "%s" is refused', async (encoding) => {
  expectRefusal(await world.sign({ headers: { 'content-encoding': encoding } }), refused);
});

test('two equal types are refused, as a verifier refuses them', async () => {
  const headers = [
    ...['Authorization', `Bearer ${await world.issuer.token()}`, 'Content-Length', String(V1_BODY.length)],
    ...['Content-Type', 'application/json', 'Content-Type', 'application/json'],
  ];
  const path = `/v1/interns/${world.tenants.internId}/daemon/sign`;
  expectRefusal(await world.request({ method: 'POST', path, headers, body: V1_BODY }), refused);
});
