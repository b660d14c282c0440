import { Secret } from '@ori/runtime/secret';
import { expect, test } from 'vitest';
import type { TokenExpectation } from './expectation.ts';
import { createIntrospection, type IntrospectionOptions } from './introspect.ts';
import type { IssuerMetadata } from './issuer.ts';

const NOW = 1_789_000_000;
const expected = {
  issuer: 'https://issuer.test',
  audience: 'https://api.test/v1',
  clients: ['ori-cli'],
  lifetimeMaxSeconds: 86_400,
  requiresAuthTime: false,
};
const network = '192.0.2.1';
const unavailable = { code: 'issuer_unavailable' };
const active = () =>
  Response.json({
    active: true,
    aud: expected.audience,
    sub: 'ada',
    client_id: 'ori-cli',
    exp: NOW + 300,
  });
const JSON_HEADERS = { headers: { 'content-type': 'application/json' } };
const metadataWith = (endpoint: unknown, issuer = expected.issuer): IssuerMetadata => ({
  issuer,
  jwks_uri: 'https://issuer.test/jwks',
  introspection_endpoint: endpoint,
});

interface Sent {
  readonly url: string;
  readonly authorization: string | null;
  readonly body: URLSearchParams;
}

/** A client whose calls are recorded, and answered with an active token unless `answer` says otherwise. */
function clientWith({
  answer = async () => active(),
  ...options
}: Partial<IntrospectionOptions> & { answer?: (init: RequestInit | undefined) => Promise<Response> } = {}) {
  const sent: Sent[] = [];
  const place = { metadata: metadataWith('https://issuer.test/introspect') };
  const introspection = createIntrospection(
    {
      clientId: 'ori',
      clientSecret: new Secret('s3cret'),
      authMethod: 'client_secret_basic',
      inFlightMax: 2,
      timeoutMs: 20_000,
      fetch: async (url, init) => {
        const authorization = new Headers(init?.headers).get('authorization');
        sent.push({ url: String(url), authorization, body: new URLSearchParams(String(init?.body)) });
        return answer(init);
      },
      ...options,
    },
    { metadata: async () => place.metadata, noteClock: () => undefined },
  );
  return {
    sent,
    place,
    check: introspection.check,
    ask: (token = 'token', isFamiliar = false, like: TokenExpectation = expected) =>
      introspection.introspect(token, like, NOW, { network, isFamiliar }),
  };
}

test.each([
  ['client_secret_basic', `Basic ${btoa('ori:s3cret')}`, null],
  ['client_secret_post', null, 's3cret'],
] as const)('authenticates by %s', async (authMethod, authorization, clientSecret) => {
  const { sent, ask } = clientWith({ authMethod });
  expect(await ask()).toMatchObject({ subject: 'ada' });
  expect(sent).toMatchObject([{ authorization }]);
  expect(sent[0]?.body.get('client_secret')).toBe(clientSecret);
  expect(sent[0]?.body.get('token')).toBe('token');
});

test('asks where the newest metadata says, over http too, and nobody without an endpoint', async () => {
  const { sent, place, ask, check } = clientWith();
  const endpoints = ['https://issuer.test/introspect', 'http://127.0.0.1:9000/introspect'];
  for (const endpoint of endpoints) {
    place.metadata = metadataWith(endpoint, new URL(endpoint).origin);
    expect(await ask()).toMatchObject({ subject: 'ada' });
  }
  const explanation = expect.stringContaining('set introspection.endpoint');
  for (const endpoint of [undefined, null, 'introspect', 'https://elsewhere.test/introspect']) {
    place.metadata = metadataWith(endpoint);
    for (const failing of [ask(), check()])
      await expect(failing).rejects.toMatchObject({ code: 'issuer_misconfigured', explanation });
  }
  expect(sent.map(({ url }) => url)).toEqual(endpoints);
});

test("asks where the settings say, on an operator's own address, whatever the metadata has", async () => {
  const endpoint = 'http://127.0.0.1:4445/admin/oauth2/introspect';
  const { sent, place, ask, check } = clientWith({
    endpoint,
    clientSecret: undefined,
    authMethod: 'none',
    answer: async (init) =>
      String(init?.body).includes('token=token') ? active() : Response.json({ active: false }),
  });
  place.metadata = metadataWith(undefined);
  expect(await ask()).toMatchObject({ subject: 'ada' });
  await check();
  expect(sent).toMatchObject([
    { url: endpoint, authorization: null },
    { url: endpoint, authorization: null },
  ]);
  expect(sent[0]?.body.get('token_type_hint')).toBe('access_token');
});

const coded = (status: number, error: string) => Response.json({ error }, { status });
test.each<[string, () => Response, string, string]>([
  ['a wrong secret', () => coded(401, 'invalid_client'), 'issuer_misconfigured', '401 invalid_client'],
  [
    'a wrong secret with a challenge',
    () => new Response('', { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }),
    'issuer_misconfigured',
    'check clientId, clientSecret and authMethod',
  ],
  ['a client without the right', () => new Response('', { status: 403 }), 'issuer_misconfigured', '403'],
  ['a wrong path', () => new Response('', { status: 404 }), 'issuer_misconfigured', 'introspection.endpoint'],
  [
    'a redirect for good',
    () => Response.redirect('https://x.test', 308),
    'issuer_misconfigured',
    'introspection.endpoint',
  ],
  ['something else', () => Response.json({ keys: [] }), 'issuer_misconfigured', 'introspection.endpoint'],
  ['a redirect', () => Response.redirect('https://x.test'), 'issuer_unavailable', 'failed'],
  ['any token as active', active, 'issuer_misconfigured', 'that nobody has'],
  ['a client that may not, as 400', () => coded(400, 'unauthorized_client'), 'issuer_misconfigured', '400'],
  [
    'that no token is right',
    () => coded(400, 'invalid_request'),
    'issuer_misconfigured',
    'not take the token',
  ],
  ['a failure of its own', () => coded(500, 'server_error'), 'issuer_unavailable', 'failed'],
  ['too many requests', () => coded(429, 'slow_down'), 'issuer_unavailable', 'failed'],
])('an issuer that answers with %s', async (_, answer, code, message) => {
  const { check } = clientWith({ answer: async () => answer() });
  await expect(check()).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test('a token that the issuer does not take is refused, as others do that are not active', async () => {
  const { ask } = clientWith({ answer: async () => coded(400, 'invalid_request') });
  await expect(ask()).rejects.toMatchObject({ code: 'bearer_refused', claim: 'active' });
});

test('without an audience, a token of no type is refused once one of the issuer had a type', async () => {
  const lenient = { ...expected, introspectionWithoutAudience: true };
  const answers = [undefined, 'Bearer', undefined].map((token_type) => ({
    active: true,
    sub: 'ada',
    client_id: 'ori-cli',
    scope: 'vault:read offline_access',
    exp: NOW + 300,
    token_type,
  }));
  const named = { ...answers[0], aud: expected.audience };
  const { ask } = clientWith({ answer: async () => Response.json(answers.shift() ?? named) });
  const next = () => ask('token', false, lenient);
  expect([await next(), await next()]).toMatchObject([{ subject: 'ada' }, { subject: 'ada' }]);
  await expect(next()).rejects.toMatchObject({ code: 'bearer_refused', claim: 'token_type' });
  expect(await next()).toMatchObject({ subject: 'ada' });
});

test.each([
  ['of 64 KiB', 65_536, 'ada'],
  ['of one byte more', 65_537, undefined],
])('takes an answer %s or not', async (_, bytes, subject) => {
  const answer = async () => new Response((await active().text()).padEnd(bytes), JSON_HEADERS);
  const { ask } = clientWith({ answer });
  if (subject === undefined) await expect(ask()).rejects.toMatchObject(unavailable);
  else expect(await ask()).toMatchObject({ subject });
});

test('follows no redirect, and takes no answer without a body', async () => {
  for (const response of [Response.redirect('https://elsewhere.test'), new Response(null, { status: 204 })]) {
    const modes: unknown[] = [];
    const { ask } = clientWith({
      answer: async (init) => {
        modes.push(init?.redirect);
        return response;
      },
    });
    await expect(ask()).rejects.toMatchObject(unavailable);
    expect(modes).toEqual(['manual']);
  }
});

test('ends a call that takes too long', async () => {
  const { ask } = clientWith({
    timeoutMs: 20,
    answer: (init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
  });
  await expect(ask()).rejects.toMatchObject(unavailable);
});

test.each([
  [2, 1, 1],
  [8, 6, 2],
  [1, 1, 1],
])(
  'of %i slots, %i are for strangers and %i for tokens that were valid before; a wait for one ends',
  async (inFlightMax, forStrangers, forFamiliar) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const answer = () => promise.then(active);
    const { sent, ask } = clientWith({ inFlightMax, timeoutMs: 20, answer });
    const asked = [false, true].map((isFamiliar) =>
      Array.from({ length: (isFamiliar ? forFamiliar : forStrangers) + 1 }, () => ask('token', isFamiliar)),
    );
    for (const calls of asked) await expect(calls.at(-1)).rejects.toMatchObject(unavailable);
    expect(sent).toHaveLength(forStrangers + forFamiliar);
    resolve();
    for (const calls of asked) expect(await Promise.all(calls.slice(0, -1))).toHaveLength(calls.length - 1);
  },
);
