import { createDpopKey } from '@ori/test-env/dpop';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { BODY_SHA256, useSignerWorld } from '../signer-world.ts';

// Third-party clients: each gets a nonce in the first response and repeats the request automatically.
const world = await useSignerWorld();
const key = await createDpopKey();
const { thumbprint } = key;
const accessToken = await world.token({ claims: { cnf: { jkt: thumbprint } } });
const url = new URL(`${world.baseUrl}/interns/${world.tenants.internId}/daemon/sign`);
const body = JSON.stringify({ bodySha256: BODY_SHA256 });
const headers = () => new Headers({ 'content-type': 'application/json' });

test('openid-client gets a proof, also with a nonce that it remembers', async () => {
  const server = { issuer: world.issuer.url };
  const configuration = new openid.Configuration(server, 'ori-cli');
  openid.allowInsecureRequests(configuration);
  const DPoP = openid.getDPoPHandle(configuration, key);
  const options = { DPoP };
  for (let calls = 0; calls < 2; calls += 1) {
    const send = openid.fetchProtectedResource;
    const answer = await send(configuration, accessToken, url, 'POST', body, headers(), options);
    expect(answer.status).toBe(200);
  }
});

test('oauth4webapi gets a proof', async () => {
  const DPoP = oauth.DPoP({}, key);
  const options = { DPoP, [oauth.allowInsecureRequests]: true };
  const send = () => oauth.protectedResourceRequest(accessToken, 'POST', url, headers(), body, options);
  const challenge = await send().catch((error: unknown) => error);
  expect(oauth.isDPoPNonceError(challenge)).toBe(true);
  expect((await send()).status).toBe(200);
});

test('so is what jose signs', async () => {
  const send = async (nonce?: string) => {
    const proof = await key.proof({ url: url.href, accessToken, ...(nonce === undefined ? {} : { nonce }) });
    const authorization = `DPoP ${accessToken}`;
    const all = { authorization, dpop: proof, 'content-type': 'application/json' };
    return fetch(url, { method: 'POST', headers: all, body });
  };
  const challenge = await send();
  expect(challenge.status).toBe(401);
  expect((await send(challenge.headers.get('dpop-nonce') ?? '')).status).toBe(200);
});
