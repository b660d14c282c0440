import { type Environment, loadConfig } from '@ori/runtime/config';
import { createIssuerKey } from '@ori/test-env/issuer-keys';
import { mintToken } from '@ori/test-env/issuer-tokens';
import { expect, test, vi } from 'vitest';
import { completeIdentity, IDENTITY_SPEC, leavesOpen } from './config.ts';
import { openIdentity } from './open-identity.ts';
import { readBearer } from './read-bearer.ts';

const AUDIENCE = 'https://api.test/v1';
const ISSUERS = ['https://one.test', 'https://two.test'];

const DOCUMENTS: Readonly<Record<string, (issuer: string) => object>> = {
  '/.well-known/openid-configuration': (issuer) => ({
    issuer,
    jwks_uri: `${issuer}/jwks`,
    introspection_endpoint: `${issuer}/introspect`,
    dpop_signing_alg_values_supported: issuer === ISSUERS[0] ? ['ES256'] : undefined,
  }),
  '/jwks': () => ({ keys: [] }),
  '/introspect': () => ({
    active: true,
    sub: 'ada',
    aud: AUDIENCE,
    client_id: 'ori-cli',
    exp: Date.now() / 1000 + 300,
  }),
};

/** Two issuers, of which those in `answering` answer. */
function openTwo(answering: ReadonlySet<string>, env: Environment = {}) {
  const config = loadConfig('TEST', IDENTITY_SPEC, {
    TEST_ISSUER: ISSUERS[0],
    TEST_AUDIENCE: AUDIENCE,
    ...env,
  });
  const problems: string[] = [];
  const { issuers, baseUrl } = completeIdentity('TEST', config, problems);
  expect(problems).toEqual([]);
  const both = ISSUERS.flatMap((issuer) => issuers.map((settings) => ({ ...settings, issuer })));
  return openIdentity(
    { ...config, baseUrl, issuers: both },
    {
      apiKey: () => ({}),
      now: Date.now,
      fetch: async (url) => {
        const { origin: issuer, pathname } = new URL(String(url));
        if (!answering.has(issuer)) throw new TypeError('unreachable');
        return Response.json(DOCUMENTS[pathname]?.(issuer));
      },
    },
  );
}

test('is ready while one of two issuers answers, and knows the age of its keys', async () => {
  const identity = openTwo(new Set(ISSUERS.slice(1)));
  expect(identity.keysAgeSeconds()).toBeNaN();
  await identity.check();
  expect(identity.keysAgeSeconds()).toBeGreaterThanOrEqual(0);
  identity.close();
  await expect(identity.check()).rejects.toMatchObject({ code: 'issuer_unavailable' });
});

test('of several issuers, the age is that of the oldest keys', async () => {
  const answering = new Set(ISSUERS.slice(1));
  const identity = openTwo(answering);
  await identity.check();
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 100_000);
  try {
    answering.add('https://one.test');
    const keys = [await createIssuerKey('ES256')];
    const token = await mintToken({ issuer: 'https://one.test', audience: AUDIENCE, keys }, {});
    const unknown = identity.identify(readBearer([`Bearer ${token}`]), '192.0.2.1');
    await expect(unknown).rejects.toMatchObject({ code: 'bearer_refused' });
    expect(identity.keysAgeSeconds()).toBeGreaterThanOrEqual(100);
  } finally {
    clock.mockRestore();
  }
  identity.close();
});

test('fetches the keys of an issuer again after 300 seconds, and uses them for 300 more while it does not answer', async () => {
  const answering = new Set(ISSUERS.slice(0, 1));
  const identity = openTwo(answering);
  const keys = vi.spyOn(DOCUMENTS, '/jwks');
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  try {
    await identity.check();
    aheadMs = 230_000;
    await identity.check();
    expect(keys).toHaveBeenCalledTimes(1);
    aheadMs = 301_000;
    await identity.check();
    expect(keys).toHaveBeenCalledTimes(2);
    answering.clear();
    aheadMs += 590_000;
    await identity.check();
    aheadMs += 10_000;
    await expect(identity.check()).rejects.toMatchObject({ code: 'issuer_unavailable' });
  } finally {
    clock.mockRestore();
    keys.mockRestore();
    identity.close();
  }
});

test('is not ready while no issuer answers', async () => {
  const identity = openTwo(new Set());
  await expect(identity.check()).rejects.toMatchObject({ code: 'issuer_unavailable' });
  expect(identity.keysAgeSeconds()).toBeNaN();
  identity.close();
});

test('knows of each issuer whether it binds tokens to keys', async () => {
  const identity = openTwo(new Set(ISSUERS));
  const binding = () => [...ISSUERS, 'https://other.test'].map(identity.binds);
  expect(binding()).toEqual([false, false, false]);
  await identity.check();
  await expect.poll(binding).toEqual([true, false, false]);
  identity.close();
});

test('check-config says so where sessions need not be bound', () => {
  expect(leavesOpen('TEST', { requireDpop: true })).toEqual([]);
  expect(leavesOpen('TEST', { requireDpop: false })).toEqual([
    expect.stringMatching(/^TEST_REQUIRE_DPOP=false: sessions that are not bound to a key are accepted/),
  ]);
});

test('an opaque token is introspected if there is a client for it', async () => {
  const bearer = readBearer([`Bearer ${'x'.repeat(22)}`]);
  const client = { TEST_INTROSPECTION_CLIENT_ID: 'ori', TEST_INTROSPECTION_CLIENT_SECRET: 'secret' };
  const [without, withClient] = [{}, client].map((env) => openTwo(new Set(ISSUERS), env));
  expect(await without?.identify(bearer, '192.0.2.1')).toBeUndefined();
  expect(await withClient?.identify(bearer, '192.0.2.1')).toMatchObject({ token: { subject: 'ada' } });
});
