import { createDpopKey } from '@ori/test-env/dpop';
import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { useSignerWorld, V2_BODY } from '../signer-world.ts';

// The signer's examples for clients of other libraries.
const world = await useSignerWorld();
const key = await createDpopKey();
const { thumbprint } = key;
const accessToken = await world.token({ claims: { cnf: { jkt: thumbprint } } });
const url = new URL(`${world.baseUrl}/interns/${world.tenants.internId}/daemon/sign`);

const code = (name: string) =>
  import(new URL(`../../../services/signer/examples/${name}.mjs`, import.meta.url).href);

test('openid-client gets a proof', async () => {
  const configuration = new openid.Configuration({ issuer: world.issuer.url }, 'ori-cli');
  openid.allowInsecureRequests(configuration);
  const { sign } = await code('openid-client');
  expect((await sign(configuration, key, accessToken, url, V2_BODY)).status).toBe(200);
});

test('so is what jose signs, and for no other content', async () => {
  const { dpopProof } = await code('jose');
  const send = async (nonce: string | undefined, content = V2_BODY) => {
    const dpop = await dpopProof(key, accessToken, url.href, V2_BODY, nonce);
    const headers = { authorization: `DPoP ${accessToken}`, dpop, 'content-type': 'application/json' };
    return fetch(url, { method: 'POST', headers, body: content });
  };
  const challenge = await send(undefined);
  expect(challenge.status).toBe(401);
  const nonce = challenge.headers.get('dpop-nonce') ?? '';
  expect((await send(nonce)).status).toBe(200);
  expect((await send(nonce, `${V2_BODY} `)).status).toBe(401);
});
