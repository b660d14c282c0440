import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { startIssuer } from './issuer.ts';

const audience = 'http://127.0.0.1:8080/v1';

test.each(['ES256', 'EdDSA', 'RS256'] as const)(
  'mints %s tokens that a JOSE library verifies',
  async (alg) => {
    await using issuer = await startIssuer({ audience });
    const token = await issuer.token({ signWith: alg, subject: 'grace' });
    const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(`${issuer.url}/jwks`)), {
      issuer: issuer.url,
      audience,
      typ: 'at+jwt',
    });
    expect(payload.sub).toBe('grace');
    expect(issuer.counts.jwks).toBe(1);
  },
);

test('replaces or omits claims and header members on demand', async () => {
  await using issuer = await startIssuer({ audience, algorithms: ['ES256'] });
  const token = await issuer.token({ header: { typ: undefined, kid: 'other' }, claims: { aud: undefined } });
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', kid: 'other' });
  await expect(
    jwtVerify(token, createRemoteJWKSet(new URL(`${issuer.url}/jwks`)), { audience }),
  ).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
});

test('introspects opaque tokens for its client only, and rejects revoked ones', async () => {
  await using issuer = await startIssuer({ audience, algorithms: ['ES256'] });
  const { id, secret } = issuer.introspectionClient;
  const token = issuer.opaqueToken({ scope: 'interns' });
  const introspect = async (client_secret: string) => {
    const body = new URLSearchParams({ token, client_id: id, client_secret });
    const response = await fetch(`${issuer.url}/introspect`, { method: 'POST', body });
    return [response.status, await response.json()];
  };
  expect(await introspect('wrong')).toEqual([401, { error: 'invalid_client' }]);
  expect(await introspect(secret)).toMatchObject([200, { active: true, scope: 'interns', aud: audience }]);
  issuer.revoke(token);
  expect(await introspect(secret)).toEqual([200, { active: false }]);
});

test('stops and restarts on its port, fails, redirects and pads on demand', async () => {
  await using issuer = await startIssuer({ audience, algorithms: ['ES256'] });
  const jwks = () => fetch(`${issuer.url}/jwks`, { redirect: 'manual' });
  await issuer.stop();
  await expect(jwks()).rejects.toThrow('fetch failed');
  await issuer.start();
  issuer.behave('error', 'jwks');
  expect((await jwks()).status).toBe(500);
  issuer.behave('redirecting');
  expect((await jwks()).headers.get('location')).toBe('/elsewhere/jwks');
  issuer.behave('huge');
  expect((await (await jwks()).arrayBuffer()).byteLength).toBeGreaterThan(16 * 1024 * 1024);
});
