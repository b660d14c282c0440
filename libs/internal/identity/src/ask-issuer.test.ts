import { Secret } from '@ori/runtime/secret';
import { createIssuerKey } from '@ori/test-env/issuer-keys';
import { mintToken } from '@ori/test-env/issuer-tokens';
import { expect, test } from 'vitest';
import type { IssuerSettings } from './issuers-file.ts';
import { openIdentity } from './open-identity.ts';
import { readBearer } from './read-bearer.ts';

const [ASKED, OTHER] = ['https://issuer.test', 'https://other.test'];
const AUDIENCE = 'https://api.test/v1';
const THUMBPRINT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I';
const key = await createIssuerKey('ES256');
const random = 'a1B2c3D4e5F6g7H8i9J0k1L2';
const REFRESH = random.toUpperCase();
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const JWE = `${part({ alg: 'A256GCMKW', enc: 'A256GCM' })}.${random}.abcd.${random}.${random}`;

/** An issuer that is asked about tokens, and one that is not. */
function open(changes: object = {}, more: Partial<IssuerSettings> = {}) {
  const asked: URLSearchParams[] = [];
  const active = {
    active: true,
    sub: 'ada',
    aud: AUDIENCE,
    client_id: 'ori-cli',
    scope: 'vault:read',
    exp: Date.now() / 1000 + 300,
  };
  const settings: IssuerSettings = {
    issuer: ASKED,
    audience: AUDIENCE,
    clients: ['ori-cli'],
    tokenTypes: ['at+jwt'],
    lifetimeMaxSeconds: 86_400,
    requiresAuthTime: false,
    signIn: { scopes: [], resource: true, consent: true },
    introspection: {
      clientId: 'api',
      clientSecret: new Secret('s'),
      authMethod: 'client_secret_basic',
      tokenPrefix: '',
    },
    ...more,
  };
  const { introspection: _, ...plain } = settings;
  const identity = openIdentity<never>({ issuers: [settings, { ...plain, issuer: OTHER }] } as never, {
    apiKey: () => ({}),
    now: Date.now,
    fetch: async (url, init) => {
      const { origin: issuer, pathname } = new URL(String(url));
      if (pathname.endsWith('openid-configuration'))
        return Response.json({ issuer, jwks_uri: `${issuer}/jwks`, introspection_endpoint: `${issuer}/ask` });
      if (pathname === '/jwks') return Response.json({ keys: [key.publicJwk] });
      const form = new URLSearchParams(String(init?.body));
      asked.push(form);
      // As Canaille does: any of its tokens is active, unless one kind is asked for.
      const isOther = form.get('token') === REFRESH && form.get('token_type_hint') === 'access_token';
      return Response.json(isOther ? { active: false } : { ...active, ...changes });
    },
  });
  const verdict = (token: string) =>
    Promise.resolve(identity.identify(readBearer([`Bearer ${token}`]), '192.0.2.1')).then(
      (found) => (found && 'token' in found ? (found.token.keyThumbprint ?? found.token.subject) : 'nobody'),
      (error: { claim?: string; code: string }) => error.claim ?? error.code,
    );
  return { asked, verdict };
}

const mint = (typ: string | undefined, claims: object, issuer = ASKED) =>
  mintToken({ issuer, audience: AUDIENCE, keys: [key] }, { header: { typ }, claims: { ...claims } });

test('a refresh token does not pass where an issuer tells it apart when asked for an access token', async () => {
  const { verdict } = open();
  expect(await verdict(random)).toBe('ada');
  expect(await verdict(REFRESH)).toBe('active');
});

const plain = { scope: undefined, client_id: undefined, iss: ASKED };

test.each<[string, () => string | Promise<string>]>([
  ['a reference', () => random],
  ['a JWE', () => JWE],
  ['a PASETO', () => `v4.local.${random}`],
  ['a JWT of the general type', () => mint('JWT', {})],
  ['a JWT without a type', () => mint(undefined, {})],
  ['a JWT without a scope and without a client', () => mint('JWT', plain)],
  ['a JWT with a client among its audiences', () => mint('JWT', { ...plain, aud: ['ori-cli', AUDIENCE] })],
  ['a JWT that names no issuer', () => mint('at+jwt', { iss: undefined })],
])('the issuer is asked about %s', async (_, token) => {
  const { asked, verdict } = open();
  expect(await verdict(await token())).toBe('ada');
  expect(asked).toHaveLength(1);
});

test('an issuer is asked about no token that can be verified with its keys, nor about that of another', async () => {
  const { asked, verdict } = open({ sub: 'somebody else' });
  expect(await verdict(await mint('at+jwt', { sub: 'grace' }))).toBe('grace');
  expect(await verdict(await mint('at+jwt', { aud: 'https://elsewhere.test' }))).toBe('aud');
  expect(await verdict(await mint('JWT', {}, OTHER))).toBe('typ');
  expect(await verdict(await mint('JWT', {}, 'https://unknown.test'))).toBe('iss');
  const unsigned = { issuer: ASKED, audience: AUDIENCE, keys: [key] };
  expect(await verdict(await mintToken(unsigned, { forge: 'none' }))).toBe('alg');
  expect(asked).toEqual([]);
});

test.each<[string, object, object, string]>([
  ['another audience', { aud: 'https://elsewhere.test' }, {}, 'aud'],
  ['the client as its only audience', { aud: 'ori-cli' }, {}, 'aud'],
  ['a nonce, as an ID token', { nonce: 'n' }, {}, 'nonce'],
  ['the claim typ of an ID token', { typ: 'ID' }, {}, 'typ'],
  ['an actor', { act: { sub: 'service' } }, {}, 'act'],
  ['a certificate', { cnf: { 'x5t#S256': 'x' } }, {}, 'certificate_bound'],
  [
    'another key than its issuer names',
    { cnf: { jkt: THUMBPRINT } },
    { cnf: { jkt: 'A'.repeat(43) } },
    'cnf',
  ],
  ['8,193 characters', { filler: 'x'.repeat(8193) }, {}, 'length'],
])('a JWT that says itself that it has %s is refused', async (_, claims, answer, claim) => {
  const { verdict } = open(answer, { introspectionWithoutAudience: true });
  expect(await verdict(await mint('JWT', claims))).toBe(claim);
});

test('a key that a JWT says itself that it is bound to must be proven, although its issuer does not name it', async () => {
  expect(await open().verdict(await mint('JWT', { cnf: { jkt: THUMBPRINT } }))).toBe(THUMBPRINT);
});

test.each<[string, object]>([
  ['another audience', { aud: 'https://elsewhere.test' }],
  ['no audience', { aud: undefined }],
  ['another client', { client_id: 'other' }],
  ['no activity', { active: false }],
])('a JWE of which the issuer reports %s is refused', async (_, answer) => {
  expect(await open(answer).verdict(JWE)).not.toBe('ada');
});
