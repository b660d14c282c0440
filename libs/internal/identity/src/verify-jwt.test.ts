import { createIssuerKey } from '@ori/test-env/issuer-keys';
import { mintToken, type TokenOptions } from '@ori/test-env/issuer-tokens';
import { type CryptoKey, decodeProtectedHeader, importJWK, type JWSHeaderParameters } from 'jose';
import { expect, test, vi } from 'vitest';
import { IdentityError } from './identity-error.ts';
import { verifyJwt } from './verify-jwt.ts';

const expected = {
  issuer: 'https://issuer.test',
  audience: 'https://api.test/v1',
  clients: ['ori-cli'],
  lifetimeMaxSeconds: 86_400,
  requiresAuthTime: false,
};
const refused = { code: 'bearer_refused' };
const key = await createIssuerKey('ES256');
const other = await createIssuerKey('ES256');
const mint = (options: TokenOptions = {}) => mintToken({ ...expected, keys: [key, other] }, options);
const now = () => Math.floor(Date.now() / 1000);

function issuerWith(jwk = key.publicJwk) {
  const keysFor = vi.fn(async function* (_: JWSHeaderParameters) {
    yield (await importJWK(jwk, 'ES256')) as CryptoKey;
  });
  return { keysFor };
}

test('a valid token yields its facts, and only alg and kid of its header select the key', async () => {
  const issuer = issuerWith();
  const token = await mint({
    header: { jwk: other.publicJwk, jku: 'https://elsewhere.test', x5u: 'https://elsewhere.test' },
  });
  expect(await verifyJwt(token, expected, issuer, now())).toMatchObject({ subject: 'ada' });
  expect(issuer.keysFor.mock.calls).toEqual([[{ alg: 'ES256', kid: key.kid }]]);
});

test.each<[string, TokenOptions]>([
  ['another typ', { header: { typ: 'JWT' } }],
  ['another audience', { claims: { aud: 'https://other.test' } }],
  ['a past exp', { claims: { exp: now() - 100 } }],
  ['alg none', { forge: 'none' }],
  ['alg HS256', { forge: 'hmac' }],
])('a token with %s is refused before a key is fetched', async (_, options) => {
  const issuer = issuerWith();
  await expect(verifyJwt(await mint(options), expected, issuer, now())).rejects.toMatchObject(refused);
  expect(issuer.keysFor).not.toHaveBeenCalled();
});

test('a token that another key signed is refused', async () => {
  const token = await mint({ signWith: { kid: other.kid }, header: { kid: key.kid } });
  expect(decodeProtectedHeader(token).kid).toBe(key.kid);
  await expect(verifyJwt(token, expected, issuerWith(), now())).rejects.toMatchObject(refused);
});

test('each key that the token may mean is tried', async () => {
  const both = {
    async *keysFor() {
      for (const { publicJwk } of [other, key]) yield (await importJWK(publicJwk, 'ES256')) as CryptoKey;
    },
  };
  const token = await mint({ signWith: { kid: key.kid } });
  expect(await verifyJwt(token, expected, both, now())).toMatchObject({ subject: 'ada' });
});

test('a token with an invalid signature is refused', async () => {
  for (const token of [await mint({ forge: 'garbage' }), (await mint()).replace(/[^.]*$/, '')]) {
    await expect(verifyJwt(token, expected, issuerWith(), now())).rejects.toMatchObject(refused);
  }
});

test('a token under an unknown key is refused', async () => {
  const nobody = { async *keysFor() {} };
  await expect(verifyJwt(await mint(), expected, nobody, now())).rejects.toMatchObject(refused);
});

test.each(['..', 'a.b.c', 'ew.e30.x', 'e30.ew.x', 'e30.e30.', 'W10.e30.x', 'bnVsbA.e30.x', `${'é'}.e30.x`])(
  '%s is not a JWT',
  async (token) => {
    await expect(verifyJwt(token, expected, issuerWith(), now())).rejects.toThrow(IdentityError);
  },
);

test('an unavailable issuer is not reported as a bad token', async () => {
  const down = {
    // biome-ignore lint/correctness/useYield: it fails before the first key
    async *keysFor() {
      throw new IdentityError('issuer_unavailable', 'down');
    },
  };
  await expect(verifyJwt(await mint(), expected, down, now())).rejects.toMatchObject({
    code: 'issuer_unavailable',
  });
});
