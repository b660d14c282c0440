import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createDpopKey } from '@ori/test-env/dpop';
import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { useSignerWorld, V2_BODY } from '../signer-world.ts';

// The code of the signer's README, as it is there, for clients of other libraries.
const world = await useSignerWorld();
const key = await createDpopKey();
const { thumbprint } = key;
const accessToken = await world.token({ claims: { cnf: { jkt: thumbprint } } });
const url = new URL(`${world.baseUrl}/interns/${world.tenants.internId}/daemon/sign`);

/** The code blocks of the README's section, written where they find their libraries. */
const code = await (async () => {
  const readme = await readFile(new URL('../../../services/signer/README.md', import.meta.url), 'utf8');
  const section = /^## Bound sessions\n(.*?)^## /ms.exec(readme)?.[1] ?? '';
  const blocks = [...section.matchAll(/^```js\n(.*?)^```/gms)].map(([, block = '']) => block);
  const folder = new URL(`../../../node_modules/.cache/dpop-clients-${process.pid}/`, import.meta.url);
  await mkdir(folder, { recursive: true });
  const names = ['content-hash', 'openid-client', 'jose'];
  expect(blocks).toHaveLength(names.length);
  await Promise.all(
    names.map((name, index) => writeFile(new URL(`${name}.mjs`, folder), blocks[index] ?? '')),
  );
  return (name: string) => import(new URL(`${name}.mjs`, folder).href);
})();

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
