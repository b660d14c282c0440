import { createIssuerKey } from '@ori/test-env/issuer-keys';
import { mintToken } from '@ori/test-env/issuer-tokens';
import { expect, test } from 'vitest';
import { openIdentity } from './open-identity.ts';
import { readBearer } from './read-bearer.ts';

const ISSUER = 'https://issuer.test';
const AUDIENCE = 'https://api.test/v1';
const key = await createIssuerKey('ES256');
const now = () => Math.floor(Date.now() / 1000);

/** When a person signed in, by the facts of a token of an issuer whose clock is as far ahead. */
async function signedInAt(aheadSeconds: number | undefined, claims: object): Promise<unknown> {
  const date = new Date((now() + (aheadSeconds ?? 0)) * 1000).toUTCString();
  const headers = aheadSeconds === undefined ? undefined : { date };
  const settings = {
    issuer: ISSUER,
    audience: AUDIENCE,
    clients: ['ori-cli'],
    lifetimeMaxSeconds: 86_400,
    requiresAuthTime: false,
    signIn: { scopes: [], resource: true, consent: true },
  };
  const { identify } = openIdentity<never>({ issuers: [settings] } as never, {
    apiKey: () => ({}),
    now: Date.now,
    fetch: async (url) =>
      Response.json(
        String(url).endsWith('/jwks')
          ? { keys: [key.publicJwk] }
          : { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` },
        headers && { headers },
      ),
  });
  const token = await mintToken(
    { issuer: ISSUER, audience: AUDIENCE, keys: [key] },
    { claims: { ...claims } },
  );
  return Promise.resolve(identify(readBearer([`Bearer ${token}`]), '192.0.2.1')).then(
    (found) => (found && 'token' in found ? found.token.authenticatedAt : undefined),
    (error: { claim?: string }) => error.claim,
  );
}

test('an issuer whose clock is ahead keeps no session alive that began before a revocation', async () => {
  const at = now() + 25;
  expect(await signedInAt(25, { auth_time: at, iat: at })).toBeLessThanOrEqual(now());
});

test.each([0, -3600, undefined])(
  'an issuer whose clock is %s s ahead dates a sign-in as it says',
  async (ahead) => {
    const at = now() - 10;
    expect(await signedInAt(ahead, { auth_time: at })).toBe(at);
  },
);

test.each([
  ['auth_time', { auth_time: 4_102_444_800 }],
  ['iat', { iat: 4_102_444_800, exp: 4_102_445_000 }],
])('no difference of clocks explains an %s in the year 2100', async (claim, claims) => {
  expect(await signedInAt(0, claims)).toBe(claim);
});
