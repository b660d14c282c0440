import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { serve } from '@ori/test-env/serve';
import { expect, it } from 'vitest';
import { requestApi } from './api.ts';
import { type PrivateJwk, proofKeyOf } from './proof-key.ts';

const { signal } = new AbortController();

it('is asked once for the nonce that it has already given for a key', async () => {
  const statuses: number[] = [];
  await using api = await serve(
    createServer((req, res) => {
      const [, claims = ''] = String(req.headers['dpop']).split('.');
      const { nonce } = JSON.parse(Buffer.from(claims, 'base64url').toString());
      const status = nonce === 'n1' ? 200 : 401;
      statuses.push(status);
      res.writeHead(status, { 'dpop-nonce': 'n1', 'www-authenticate': 'DPoP error="use_dpop_nonce"' }).end();
    }),
  );
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = privateKey.export({ format: 'jwk' }) as unknown as PrivateJwk;
  for (const _ of [1, 2]) {
    const credential = { accessToken: 'a', key: proofKeyOf({ ...jwk }) };
    expect(await requestApi(`${api.url}/v1`, { method: 'GET', credential }, signal)).toMatchObject({
      status: 200,
    });
  }
  expect(statuses).toEqual([401, 200, 200]);
});
