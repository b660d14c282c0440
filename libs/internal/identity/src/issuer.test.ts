import { startIssuer, type TestIssuer } from '@ori/test-env/issuer';
import type { CryptoKey, JWSHeaderParameters } from 'jose';
import { expect, test, vi } from 'vitest';
import { createIssuer, type Issuer } from './issuer.ts';

const audience = 'https://api.test/v1';

function connect(issuer: TestIssuer, options: { coolDownSeconds?: number } = {}) {
  return createIssuer({
    issuer: issuer.url,
    coolDownSeconds: 0.05,
    keysStaleSeconds: 300,
    timeoutMs: 2000,
    ...options,
  });
}

const unavailable = { code: 'issuer_unavailable' };
const header = (kid: string) => ({ alg: 'ES256', kid });

/** The first key for a header. */
async function keyFor(issuer: Issuer, wanted: JWSHeaderParameters): Promise<CryptoKey | undefined> {
  for await (const key of issuer.keysFor(wanted)) return key;
  return undefined;
}

test('nothing is fetched before the first use, then discovery and keys once', async () => {
  await using test = await startIssuer({ audience, algorithms: ['ES256'] });
  const issuer = connect(test);
  expect(test.counts).toMatchObject({ discovery: 0, jwks: 0 });
  expect(issuer.keysAgeSeconds()).toBeNaN();
  await Promise.all([issuer.check(), issuer.check(), issuer.metadata()]);
  await issuer.check();
  expect(test.counts).toMatchObject({ discovery: 1, jwks: 1 });
  expect(issuer.keysAgeSeconds()).toBeGreaterThanOrEqual(0);
  issuer.close();
  await expect(issuer.metadata()).rejects.toMatchObject(unavailable);
});

test.each(['', '/', '/tenant', '/tenant/'])('the document of an issuer at "%s" is below it', async (path) => {
  const fetched: string[] = [];
  const issuer = createIssuer({
    issuer: `https://issuer.test${path}`,
    coolDownSeconds: 1,
    keysStaleSeconds: 0,
    timeoutMs: 2000,
    fetch: async (url) => {
      fetched.push(String(url));
      return new Response(null, { status: 404 });
    },
  });
  await expect(issuer.metadata()).rejects.toMatchObject(unavailable);
  const below = path.replace(/\/$/, '');
  expect(fetched).toEqual([`https://issuer.test${below}/.well-known/openid-configuration`]);
  issuer.close();
});

test.each([
  ['of another issuer', (url: string) => ({ issuer: `${url}/` })],
  ['without issuer', () => ({ issuer: undefined })],
  ['with keys on another origin', () => ({ jwks_uri: 'http://127.0.0.1:1/jwks' })],
  [
    'with keys on another host',
    (url: string) => ({ jwks_uri: `${url.replace('127.0.0.1', 'localhost')}/jwks` }),
  ],
  ['without keys', () => ({ jwks_uri: undefined })],
])('a discovery document %s is refused', async (_, members) => {
  await using test = await startIssuer({ audience, algorithms: ['ES256'] });
  test.announce(members(test.url));
  const issuer = connect(test);
  await expect(issuer.check()).rejects.toMatchObject(unavailable);
  await expect(issuer.metadata()).rejects.toMatchObject(unavailable);
  issuer.close();
});

test.each([undefined, null, 'https://elsewhere.test/introspect'])(
  'an introspection endpoint %s does not matter to an issuer whose tokens are JWTs',
  async (endpoint) => {
    await using test = await startIssuer({ audience, algorithms: ['ES256'] });
    test.announce({ introspection_endpoint: endpoint });
    const issuer = connect(test);
    await issuer.check();
    issuer.close();
  },
);

test.each([
  [['ES256'], true],
  [['RS256', 'EdDSA'], true],
  [['RS256'], false],
  ['ES256', false],
  [undefined, false],
])('an issuer that announces %j for DPoP binds: %s', async (algorithms, binds) => {
  await using test = await startIssuer({ audience, algorithms: ['ES256'] });
  test.announce({ dpop_signing_alg_values_supported: algorithms });
  const issuer = connect(test);
  expect(issuer.binds()).toBe(false);
  await issuer.check();
  expect(issuer.binds()).toBe(binds);
  issuer.close();
});

test.each(['redirecting', 'error', 'huge', 'malformed'] as const)(
  'documents that are %s are refused, and no redirect is followed',
  async (behaviour) => {
    await using test = await startIssuer({ audience, algorithms: ['ES256'] });
    const issuer = connect(test);
    test.behave(behaviour, 'jwks');
    await expect(issuer.check()).rejects.toMatchObject(unavailable);
    expect(test.counts.elsewhere).toBe(0);
    test.behave('good');
    await expect
      .poll(() =>
        issuer.check().then(
          () => 'recovered',
          () => 'unavailable',
        ),
      )
      .toBe('recovered');
    issuer.close();
  },
);

test('an unknown key triggers one fetch per cool-down, and stays unknown if the issuer does not have it', async () => {
  await using test = await startIssuer({ audience, algorithms: ['ES256'] });
  const issuer = connect(test, { coolDownSeconds: 60 });
  await issuer.check();
  for (const kid of ['a', 'b', 'c']) expect(await keyFor(issuer, header(kid))).toBeUndefined();
  expect(test.counts.jwks).toBe(1);
  issuer.close();
});

test('a key that was added is found as soon as it is asked for after the cool-down', async () => {
  await using test = await startIssuer({ audience, algorithms: ['ES256'] });
  const issuer = connect(test, { coolDownSeconds: 1e-9 });
  await issuer.check();
  const kid = await test.addKey('ES256', true);
  expect((await keyFor(issuer, header(kid)))?.type).toBe('public');
  issuer.close();
});

test('while the issuer is down, a known key stays valid and an unknown one is unavailable', async () => {
  await using test = await startIssuer({ audience, algorithms: ['ES256'] });
  const known = await test.addKey('ES256', true);
  const issuer = connect(test);
  await issuer.check();
  await test.stop();
  await expect
    .poll(() =>
      keyFor(issuer, header('unknown')).then(
        () => 'judged',
        (error: { code: string }) => error.code,
      ),
    )
    .toBe('issuer_unavailable');
  expect((await keyFor(issuer, header(known)))?.type).toBe('public');
  await issuer.check();
  issuer.close();
});

test('without an id in the header, new keys are fetched after the known ones have been tried', async () => {
  await using test = await startIssuer({ audience, algorithms: ['ES256'] });
  const issuer = connect(test, { coolDownSeconds: 1e-9 });
  await issuer.check();
  const tried = issuer.keysFor({ alg: 'ES256' })[Symbol.asyncIterator]();
  const first = await tried.next();
  await test.addKey('ES256', true);
  const [again, second, end] = [await tried.next(), await tried.next(), await tried.next()];
  expect([first, again, second].map(({ done }) => done)).toEqual([false, false, false]);
  expect([end.done, test.counts.jwks]).toEqual([true, 2]);
  issuer.close();
});

test('a key is found by id and algorithm together', async () => {
  await using test = await startIssuer({ audience, algorithms: ['ES256', 'RS256'] });
  const kid = await test.addKey('ES256', true);
  const issuer = connect(test);
  expect(await keyFor(issuer, { alg: 'RS256', kid })).toBeUndefined();
  expect((await keyFor(issuer, { alg: 'RS256' }))?.type).toBe('public');
  issuer.close();
});

test('a document that comes later than a request waits for it serves the next one, and is fetched once', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  let asked = 0;
  const slow = createIssuer({
    issuer: 'https://slow.test',
    coolDownSeconds: 1,
    keysStaleSeconds: 300,
    timeoutMs: 20,
    fetch: (_url, init) => {
      asked += 1;
      init?.signal?.addEventListener('abort', () => resolve(Response.error()));
      return promise;
    },
  });
  await expect(slow.metadata()).rejects.toMatchObject({ code: 'issuer_unavailable' });
  const issuer = 'https://slow.test';
  resolve(Response.json({ issuer, jwks_uri: `${issuer}/jwks` }));
  expect(await slow.metadata()).toMatchObject({ issuer });
  expect(asked).toBe(1);
  slow.close();
});

test('what an issuer said last is used while it is too slow to say it again', async () => {
  const issuer = 'https://slow.test';
  const headers = { 'cache-control': 'max-age=0' };
  let isSlow = false;
  const slow = createIssuer({
    issuer,
    coolDownSeconds: 0.001,
    keysStaleSeconds: 300,
    timeoutMs: 20,
    fetch: async (url) => {
      if (isSlow) await new Promise(() => {});
      return Response.json(
        String(url).endsWith('jwks') ? { keys: [] } : { issuer, jwks_uri: `${issuer}/jwks` },
        {
          headers,
        },
      );
    },
  });
  await slow.check();
  isSlow = true;
  await vi.waitFor(() => expect(slow.keysAgeSeconds()).toBeGreaterThan(0.002));
  await slow.check();
  expect(await slow.metadata()).toMatchObject({ issuer });
  slow.close();
});
