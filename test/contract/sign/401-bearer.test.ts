import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import type { Answer } from '../request.ts';
import { useSignerWorld, V2_BODY } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, tenants } = world;
const path = `/v1/interns/${tenants.internId}/daemon/sign`;

function expectUnauthorized(answer: Answer): void {
  expectRefusal(answer, { status: 401 });
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer, DPoP algs="/);
}

beforeEach(() => issuer.resetCounts());

const now = () => Math.floor(Date.now() / 1000);
const good = await issuer.token();
const [header = '', payload = '', signature = ''] = good.split('.');

const shapes: Record<string, string | null> = {
  'no Authorization header': null,
  'an unknown API key': `sk-ori-v1-${randomBytes(32).toString('hex')}`,
  'an API key in capitals': `sk-ori-v1-${randomBytes(32).toString('hex').toUpperCase()}`,
  'an API key cut short': 'sk-ori-v1-00',
  'another sk- key': `sk-${randomBytes(32).toString('hex')}`,
  'a disabled API key': tenants.disabledApiKey,
  'a management key': tenants.managementKey,
  'a token over 8 KiB': 'x'.repeat(8193),
  'a token with a character outside the alphabet': `${randomBytes(24).toString('hex')}!`,
  'a token with a quote': `"${randomBytes(24).toString('hex')}"`,
  'two tokens': `${good} ${good}`,
  'a token with a comma': `${good},${good}`,
  'an opaque token that is too short': 'short',
  'a JWT whose header is not JSON': `${Buffer.from('{').toString('base64url')}.${payload}.${signature}`,
  'a JWT whose claims are not JSON': `${header}.${Buffer.from('{').toString('base64url')}.${signature}`,
  'a JWE': `${header}.a.b.c.d`,
  'three segments that are not a JWT': 'a.b.c',
};

test.each(Object.entries(shapes))('%s is refused, and the issuer is not asked', async (_, bearer) => {
  expectUnauthorized(await world.sign({ bearer }));
  expect(issuer.counts).toMatchObject({ discovery: 0, jwks: 0, introspection: 0 });
});

test.each([
  ['another scheme', ['Authorization', 'Basic YTpi']],
  ['the scheme alone', ['Authorization', 'Bearer']],
  ['the scheme and a space', ['Authorization', 'Bearer ']],
  ['two Authorization headers', ['Authorization', `Bearer ${good}`, 'Authorization', `Bearer ${good}`]],
  ['a token in another header', ['X-Authorization', `Bearer ${good}`]],
])('%s is refused', async (_, rawHeaders) => {
  const more = ['Content-Type', 'application/json', 'Content-Length', String(V2_BODY.length)];
  expectUnauthorized(
    await world.request({ method: 'POST', path, rawHeaders: [...rawHeaders, ...more], body: V2_BODY }),
  );
});

test('a token in the query or the body is ignored', async () => {
  const body = `access_token=${good}`;
  expectUnauthorized(await world.request({ method: 'POST', path: `${path}?access_token=${good}`, body }));
});

const claims: Record<string, Record<string, unknown>> = {
  'iss missing': { iss: undefined },
  'iss of another issuer': { iss: 'https://other.test' },
  'iss with a slash more': { iss: `${issuer.url}/` },
  'iss in an array': { iss: [issuer.url] },
  'iss not a string': { iss: 1 },
  'aud missing': { aud: undefined },
  'aud of another audience': { aud: 'https://other.test' },
  'aud an array without ours': { aud: ['https://other.test'] },
  'aud an array with a non-string': { aud: [world.baseUrl, 1] },
  'aud an object': { aud: { [world.baseUrl]: true } },
  'aud a prefix of ours': { aud: world.baseUrl.slice(0, -1) },
  'exp missing': { exp: undefined },
  'exp past': { exp: now() - 10 },
  'exp a string': { exp: String(now() + 300) },
  'exp an array': { exp: [now() + 300] },
  'exp null': { exp: null },
  'sub missing': { sub: undefined },
  'sub empty': { sub: '' },
  'sub a number': { sub: 1 },
  'sub an array': { sub: ['ada'] },
  'sub with a NUL': { sub: 'ada\0' },
  'nbf to come': { nbf: now() + 60 },
  'nbf a string': { nbf: '0' },
  'nbf an array': { nbf: [0] },
  'iat a string': { iat: String(now()) },
  'auth_time a string': { auth_time: String(now()) },
  'scope an array': { scope: ['vault:read'] },
  'scope an object': { scope: {} },
  'cnf, bound to a key': { cnf: { jkt: 'x' } },
  'cnf of another type': { cnf: '' },
  'act, of a service that acts for the person': { act: { sub: 'service' } },
  'client_id missing': { client_id: undefined },
  'client_id of another client': { client_id: 'another' },
  'azp of another client': { azp: 'another' },
  'a lifetime of ten years': { exp: now() + 315_360_000 },
};

test.each(Object.entries(claims))(
  'a JWT with %s is refused, and the issuer is not asked',
  async (_, wrong) => {
    expectUnauthorized(await world.sign({ bearer: await issuer.token({ claims: wrong }) }));
    expect(issuer.counts).toMatchObject({ jwks: 0, introspection: 0 });
  },
);

test.each([
  ['typ missing', undefined],
  ['typ JWT, as ID tokens have', 'JWT'],
  ['typ in an array', ['at+jwt']],
  ['typ with more after it', 'at+jwt2'],
])('a JWT with %s is refused', async (_, typ) => {
  expectUnauthorized(await world.sign({ bearer: await issuer.token({ header: { typ } }) }));
});

test.each([
  ['alg missing', (h: object) => ({ ...h, alg: undefined })],
  ['alg none', (h: object) => ({ ...h, alg: 'none' })],
  ['alg HS256', (h: object) => ({ ...h, alg: 'HS256' })],
  ['alg an array', (h: object) => ({ ...h, alg: ['ES256'] })],
  ['an unknown alg', (h: object) => ({ ...h, alg: 'ES257' })],
  ['crit', (h: object) => ({ ...h, crit: ['exp'], exp: 1 })],
  ['a kid that is no string', (h: object) => ({ ...h, kid: 1 })],
])('a JWT with %s is refused', async (_, change) => {
  const changed = change(JSON.parse(Buffer.from(header, 'base64url').toString()));
  const bearer = `${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${payload}.${signature}`;
  expectUnauthorized(await world.sign({ bearer }));
});

test.each(['none', 'hmac', 'garbage'] as const)('a JWT forged by %s is refused', async (forge) => {
  expectUnauthorized(await world.sign({ bearer: await issuer.token({ forge }) }));
});

test('a JWT signed with a key that the issuer does not publish is refused, even with that key in its header', async () => {
  const kid = await issuer.addKey('ES256');
  expectUnauthorized(await world.sign({ bearer: await issuer.token({ signWith: { kid } }) }));
  const { generateKeyPair, exportJWK, SignJWT, decodeJwt } = await import('jose');
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  for (const extra of [{ jwk }, { jku: `${issuer.url}/jwks` }, { x5u: `${issuer.url}/jwks` }, {}]) {
    const bearer = await new SignJWT(decodeJwt(good))
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'mine', ...extra })
      .sign(privateKey);
    expectUnauthorized(await world.sign({ bearer }));
  }
});

test('a JWT signed with one key that names another is refused', async () => {
  const rsa = JSON.parse(
    Buffer.from((await issuer.token({ signWith: 'RS256' })).split('.')[0] ?? '', 'base64url').toString(),
  );
  expectUnauthorized(await world.sign({ bearer: await issuer.token({ header: { kid: rsa.kid } }) }));
});

const introspections: Record<string, Record<string, unknown>> = {
  'not active': { active: false },
  'aud missing, as with refresh tokens': { aud: undefined },
  'aud of another audience': { aud: 'https://other.test' },
  'iss of another issuer': { iss: 'https://other.test' },
  'token_type DPoP': { token_type: 'DPoP' },
  'sub missing': { sub: undefined },
  'exp missing': { exp: undefined },
  'exp past': { exp: now() - 10 },
  cnf: { cnf: { jkt: 'x' } },
};

test.each(Object.entries(introspections))(
  'an opaque token that is introspected with %s is refused',
  async (_, wrong) => {
    expectUnauthorized(await world.sign({ bearer: issuer.opaqueToken({ claims: wrong }) }));
    expect(issuer.counts.introspection).toBe(1);
  },
);

test('an unknown opaque token is introspected at most once in five seconds', async () => {
  const bearer = randomBytes(24).toString('base64url');
  expectUnauthorized(await world.sign({ bearer }));
  expectUnauthorized(await world.sign({ bearer }));
  expect(issuer.counts.introspection).toBe(1);
});
