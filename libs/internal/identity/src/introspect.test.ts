import { Secret } from '@ori/runtime/secret';
import { expect, test } from 'vitest';
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
  const introspect = createIntrospection(
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
    { metadata: async () => place.metadata },
  );
  return {
    sent,
    place,
    ask: (token = 'token', isFamiliar = false) => introspect(token, expected, NOW, { network, isFamiliar }),
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
  const { sent, place, ask } = clientWith();
  const endpoints = ['https://issuer.test/introspect', 'http://127.0.0.1:9000/introspect'];
  for (const endpoint of endpoints) {
    place.metadata = metadataWith(endpoint, new URL(endpoint).origin);
    expect(await ask()).toMatchObject({ subject: 'ada' });
  }
  for (const endpoint of [undefined, null, 'introspect', 'https://elsewhere.test/introspect']) {
    place.metadata = metadataWith(endpoint);
    await expect(ask()).rejects.toMatchObject(unavailable);
  }
  expect(sent.map(({ url }) => url)).toEqual(endpoints);
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
