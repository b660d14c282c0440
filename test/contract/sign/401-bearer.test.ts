import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { Reply } from '../../env/http-client.ts';
import type { TokenOptions } from '../../env/issuer-tokens.ts';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld, V2_BODY } from '../signer-world.ts';

const world = await useSignerWorld();
const { issuer, tenants } = world;
const path = `/v1/interns/${tenants.internId}/daemon/sign`;

function expectUnauthorized(answer: Reply): void {
  expectRefusal(answer, { status: 401 });
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer, DPoP algs="/);
}

beforeEach(() => issuer.resetCounts());

const good = await issuer.token();

/** libs/internal/identity refuses what has the form of no credential; these are the ways that lead there. */
const shapes: Record<string, string | null> = {
  'no Authorization header': null,
  'an unknown API key': `sk-ori-v1-${randomBytes(32).toString('hex')}`,
  'a disabled API key': tenants.disabledApiKey,
  'a management key': tenants.managementKey,
  'a token with a comma': `${good},${good}`,
  'three segments that are not a JWT': 'a.b.c',
  'a JWT for another audience': await issuer.token({ claims: { aud: 'https://other.test' } }),
  'an ID token': await issuer.token({ header: { typ: 'JWT' }, claims: { nonce: 'n' } }),
  'a JWT of another issuer': await issuer.token({ claims: { iss: 'https://issuer.example' } }),
  'an unsigned JWT': await issuer.token({ forge: 'none' }),
  'an HMAC for a signature': await issuer.token({ forge: 'hmac' }),
  'an expired JWT': await issuer.token({ claims: { exp: 1 } }),
  'a JWT without a subject': await issuer.token({ claims: { sub: undefined } }),
  'a JWT bound to no thumbprint': await issuer.token({ claims: { cnf: { jkt: 'x' } } }),
};

test.each(Object.entries(shapes))('%s is refused, and the issuer is not asked', async (_, bearer) => {
  expectUnauthorized(await world.sign({ bearer }));
  expect(issuer.counts).toMatchObject({ discovery: 0, jwks: 0, introspection: 0 });
});

test('two Authorization headers are refused', async () => {
  const headers = ['Authorization', `Bearer ${good}`, 'Authorization', `Bearer ${good}`];
  const more = ['Content-Type', 'application/json', 'Content-Length', String(V2_BODY.length)];
  expectUnauthorized(
    await world.request({ method: 'POST', path, headers: [...headers, ...more], body: V2_BODY }),
  );
});

test('a token in the query or the body is ignored', async () => {
  const body = `access_token=${good}`;
  expectUnauthorized(await world.request({ method: 'POST', path: `${path}?access_token=${good}`, body }));
});

test.each<[string, TokenOptions]>([
  ['a signature of nobody', { forge: 'garbage' }],
  ['a key that the issuer does not publish', { signWith: { kid: await issuer.addKey('ES256') } }],
  ['a kid that is no string', { header: { kid: 1 } }],
])('a JWT with %s is refused', async (_, options) => {
  expectUnauthorized(await world.sign({ bearer: await issuer.token(options) }));
});

test('a JWT of another type is for the issuer to judge', async () => {
  expectUnauthorized(await world.sign({ bearer: await issuer.token({ header: { typ: 'JWT' } }) }));
  expect(issuer.counts.introspection).toBe(1);
});

test('an opaque token that is not active is refused', async () => {
  expectUnauthorized(await world.sign({ bearer: issuer.opaqueToken({ claims: { active: false } }) }));
  expect(issuer.counts.introspection).toBe(1);
});
