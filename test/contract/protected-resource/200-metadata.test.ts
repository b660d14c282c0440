import { expect, test } from 'vitest';
import { startSignerWorld, useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();
const path = '/.well-known/oauth-protected-resource/v1';

test('the metadata names the resource, its issuer and the scopes', async () => {
  const answer = await world.request({ path });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.json()).toEqual({
    resource: world.baseUrl,
    authorization_servers: [world.issuer.url],
    scopes_supported: ['vault:read', 'interns'],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256', 'EdDSA', 'Ed25519'],
    dpop_bound_access_tokens_required: false,
    'x-ori_sign_in': [
      { issuer: world.issuer.url, client_id: 'ori-cli', scopes: ['vault:read', 'interns'], resource: true },
    ],
    'x-dpop_claims_required': ['x-camara:bh'],
  });
});

test('the claim over the content is not announced where it is not required', async () => {
  await using lenient = await startSignerWorld({ environment: { DPOP_REQUIRE_CONTENT: 'false' } });
  expect((await lenient.request({ path })).json()).not.toHaveProperty('x-dpop_claims_required');
});

test('HEAD returns only the headers', async () => {
  expect(await world.request({ path, method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
});
