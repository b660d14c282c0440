import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { protectedResourceRoute } from './protected-resource-route.ts';

const signIn = { clientId: 'ori-cli', scopes: ['openid'], resource: true, redirectPort: 8400 };

async function metadataWith(requireContent: boolean, method = 'GET') {
  const route = protectedResourceRoute({
    baseUrl: 'https://api.example/v1',
    issuers: [{ issuer: 'https://id.example', signIn } as never],
    requireDpop: true,
    requireContent,
  });
  const server = createServer((req, res) => void route(req as never, res as never, () => {})).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method });
}

test.each([
  [false, {}],
  [true, { 'x-dpop_claims_required': ['x-camara:bh'] }],
])('names the issuers, and with content required %o the claim of it', async (requireContent, more) => {
  const metadata = (await (await metadataWith(requireContent)).json()) as Record<string, unknown>;
  expect(metadata).toEqual({
    resource: 'https://api.example/v1',
    authorization_servers: ['https://id.example'],
    scopes_supported: expect.any(Array),
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
    dpop_bound_access_tokens_required: true,
    'x-ori_sign_in': [
      {
        issuer: 'https://id.example',
        client_id: 'ori-cli',
        scopes: ['openid'],
        resource: true,
        redirect_port: 8400,
      },
    ],
    ...more,
  });
});
