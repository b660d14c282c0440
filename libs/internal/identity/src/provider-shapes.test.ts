import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIssuerKey } from '@ori/test-env/issuer-keys';
import { mintToken, type TokenOptions } from '@ori/test-env/issuer-tokens';
import { type CryptoKey, importJWK } from 'jose';
import { describe, expect, test } from 'vitest';
import { IdentityError } from './identity-error.ts';
import { type IssuerSettings, readIssuersFile } from './issuers-file.ts';
import { verifyJwt } from './verify-jwt.ts';

const key = await createIssuerKey('ES256');
const stranger = await createIssuerKey('ES256');
const issuer = {
  async *keysFor() {
    yield (await importJWK(key.publicJwk, 'ES256')) as CryptoKey;
  },
};
const now = () => Math.floor(Date.now() / 1000);

type Claims = Readonly<Record<string, unknown>>;

/** A provider's access and ID token as its documentation shows them, and the entry of the file of issuers for it. */
interface ProviderShape {
  readonly name: string;
  /** Without the `issuer` of an entry, and the `audience` if it is the first of the access token. */
  readonly settings: Claims;
  readonly typ?: string;
  readonly access: Claims;
  readonly idTyp?: string;
  readonly id: Claims;
  readonly expected: {
    readonly subject: string;
    readonly scopes: readonly string[];
    readonly isDated: boolean;
  };
}

/** Those of the file, with its `now-60` as a time; `unusable` are signed tokens that no settings may accept, of providers that have no other ones. */
const {
  shapes,
  unusable,
}: {
  readonly shapes: readonly ProviderShape[];
  readonly unusable: readonly {
    readonly name: string;
    readonly client: string;
    readonly audience: string;
    readonly claims: Claims;
  }[];
} = JSON.parse(
  readFileSync(new URL('provider-shapes.fixture.json', import.meta.url), 'utf8'),
  (_name, value) => {
    const [, seconds] = /^now([+-]\d+)$/.exec(value) ?? [];
    return seconds === undefined ? value : now() + Number(seconds);
  },
);

/** The settings as the file of issuers gives them. */
function settingsOf({ settings, access }: Pick<ProviderShape, 'settings' | 'access'>): IssuerSettings {
  const path = join(tmpdir(), `issuers-${process.pid}-${crypto.randomUUID()}.json`);
  const audience = [access['aud']].flat()[0];
  writeFileSync(path, JSON.stringify({ issuers: [{ issuer: access['iss'], audience, ...settings }] }));
  const problems: string[] = [];
  const defaults = {
    audience: undefined,
    clients: ['ori-cli'],
    lifetimeMaxSeconds: 86_400,
    requiresAuthTime: false,
  };
  const [only] = readIssuersFile(path, defaults, (problem) => problems.push(problem));
  rmSync(path);
  expect(problems).toEqual([]);
  if (only === undefined) throw new TypeError('no issuer');
  return only;
}

/** Exactly these claims and this type: what an honest token of the test issuer has besides is removed. */
async function mint(typ: string | undefined, claims: Claims, changes: TokenOptions = {}): Promise<string> {
  const none = {
    client_id: undefined,
    scope: undefined,
    auth_time: undefined,
    jti: undefined,
    nbf: undefined,
  };
  return await mintToken(
    { issuer: String(claims['iss']), audience: '', keys: [key, stranger] },
    {
      signWith: { kid: key.kid },
      ...changes,
      header: { typ, ...changes.header },
      claims: { ...none, sub: undefined, ...claims, ...changes.claims },
    },
  );
}

const verdictOf = async (token: string, settings: IssuerSettings): Promise<string> =>
  await verifyJwt(token, settings, issuer, now()).then(
    () => 'accepted',
    (error: unknown) => {
      if (error instanceof IdentityError) return error.code;
      throw error;
    },
  );

const isRfc9068 = (typ: string | undefined): boolean => typ?.toLowerCase() === 'at+jwt';

type Forgery = [what: string, typ: string | undefined, claims: object, changes: TokenOptions];

/** What an ID token, or another token of the issuer, has that an access token for this API has not. */
function forgeries({ settings, access, id, typ, idTyp }: ProviderShape): Forgery[] {
  const names = {
    subject: 'sub',
    scope: 'scope',
    ...(settings['claims'] as Record<string, string> | undefined),
  };
  const clients = (settings['clients'] as string[] | undefined) ?? ['ori-cli'];
  const [client = ''] = clients;
  const api = settings['audience'] ?? [access['aud']].flat()[0];
  // Where ID tokens have the audiences of access tokens, only the type tells them apart.
  const isAlike = [id['aud']].flat().includes(api);
  const typOfId = isAlike ? idTyp : typ;
  const everyTyp = [typ, idTyp, 'JWT', 'at+jwt', undefined].filter((type) => !(isAlike && isRfc9068(type)));
  const changed = (what: string, claims: object): Forgery[] => [[what, typ, { ...access, ...claims }, {}]];
  return [
    ...everyTyp.map((type): Forgery => [`ID token with typ ${type}`, type, id, {}]),
    // The claims that would make an ID token pass for an access token, each missing one of them.
    [`ID token with the client claim`, typOfId, { ...id, azp: client, client_id: client, cid: client }, {}],
    ['ID token with a scope', typOfId, { ...id, azp: client, cid: client, [names.scope]: 'vault:read' }, {}],
    ...changed('the client as the only audience', { aud: client }),
    ...changed('another audience', { aud: 'https://other.test' }),
    ...changed('an audience that begins alike', { aud: `${api}/` }),
    ...changed('no audience', { aud: undefined }),
    ...changed('an audience list with a number', { aud: [api, 1] }),
    ...changed('an audience as an object', { aud: { [String(api)]: true } }),
    ...(isRfc9068(typ)
      ? []
      : ([
          [
            'ID token with a scope for the API and its client',
            typ,
            { ...id, aud: [client, api], azp: client, cid: client, [names.scope]: access[names.scope] },
            {},
          ],
          ...changed('the API and the client as audiences', { aud: [api, client] }),
          ...changed('a nonce', { nonce: 'n-0S6_WzA2Mj' }),
          ...changed('a nonce that is null', { nonce: null }),
          ...changed('at_hash', { at_hash: 'h' }),
          ...changed('c_hash', { c_hash: 'h' }),
          ...changed('s_hash', { s_hash: 'h' }),
          ...changed('events, as a logout token', { events: {} }),
          ...changed('no scope claim', { [names.scope]: undefined }),
          ...changed('an empty scope claim', { [names.scope]: '' }),
          ...changed('blanks as scope', { [names.scope]: '  ' }),
          ...changed('an empty list of scopes', { [names.scope]: [] }),
          ...changed('typ ID in the claims', { typ: 'ID' }),
          ...changed('typ Refresh in the claims', { typ: 'Refresh' }),
          ...changed('typ Offline in the claims', { typ: 'Offline' }),
          ...changed('token_use id', { token_use: 'id' }),
          ...changed('token_use refresh_token', { token_use: 'refresh_token' }),
        ] satisfies Forgery[])),
    ...changed('another issuer', { iss: 'https://other.test' }),
    ...changed('an issuer with one slash more', { iss: `${access['iss']}/` }),
    ...changed('no subject', { [names.subject]: undefined }),
    ...changed('an empty subject', { [names.subject]: '' }),
    ...changed('a subject list', { [names.subject]: ['ada'] }),
    ...changed('a subject that is a number', { [names.subject]: 1 }),
    ...changed('another client', { azp: 'other', client_id: 'other', cid: 'other' }),
    ...changed('a second client', {
      azp: access['azp'] === undefined ? 'other' : client,
      client_id: 'other',
    }),
    ...changed('no client', { azp: undefined, client_id: undefined, cid: undefined }),
    ...changed('a past expiry', { exp: now() - 10 }),
    ...changed('no expiry', { exp: undefined }),
    ...changed('an expiry as text', { exp: String(now() + 60) }),
    ...changed('a year of validity', { exp: now() + 31_536_000 }),
    ...changed('a future nbf', { nbf: now() + 600 }),
    ...changed('a scope that is a number', { [names.scope]: 1 }),
    ...changed('a scope list with a number', { [names.scope]: ['vault:read', 1] }),
    ...changed('an actor', { act: { sub: 'service' } }),
    ...changed('a certificate binding', { cnf: { 'x5t#S256': 'A'.repeat(43) } }),
    ...changed('an unknown binding', { cnf: { jwk: {} } }),
    ['no signature', typ, access, { forge: 'none' }],
    ['an HMAC with the public key', typ, access, { forge: 'hmac' }],
    ['a random signature', typ, access, { forge: 'garbage' }],
    ["a stranger's key", typ, access, { signWith: { kid: stranger.kid } }],
    [
      "a stranger's key in the header",
      typ,
      access,
      { signWith: { kid: stranger.kid }, header: { jwk: stranger.publicJwk } },
    ],
    ['typ logout+jwt', 'logout+jwt', access, {}],
    ['typ dpop+jwt', 'dpop+jwt', access, {}],
    ['typ JWS', 'JWS', access, {}],
  ];
}

describe.each(shapes)('tokens of $name', (shape) => {
  const settings = settingsOf(shape);

  test('an access token yields its facts', async () => {
    const { subject, scopes, isDated } = shape.expected;
    const facts = await verifyJwt(await mint(shape.typ, shape.access), settings, issuer, now());
    expect(facts).toMatchObject({ issuer: shape.access['iss'], subject, scopes });
    expect(facts.authenticatedAt !== undefined).toBe(isDated);
  });

  test('no forgery passes, nor an ID token', async () => {
    const accepted: string[] = [];
    for (const [what, typ, claims, changes] of forgeries(shape)) {
      const token = await mint(typ, claims as Record<string, unknown>, changes);
      if ((await verdictOf(token, settings)) === 'accepted') accepted.push(what);
    }
    expect(accepted).toEqual([]);
  });

  test('without its settings it is refused, unless it is one of RFC 9068', async () => {
    const { claims: _, scopes: __, ...plain } = { ...settings, tokenTypes: ['at+jwt'] as const };
    const verdict = await verdictOf(await mint(shape.typ, shape.access), plain);
    expect(verdict).toBe(isRfc9068(shape.typ) ? 'accepted' : 'bearer_refused');
  });
});

test.each(unusable)('$name is refused by the widest settings', async ({ claims, client, audience }) => {
  const widest = { clients: [client], tokenTypes: ['none', 'JWT', 'at+jwt'] };
  const settings = settingsOf({ settings: widest, access: { ...claims, aud: audience } });
  for (const typ of ['JWT', undefined])
    expect(await verdictOf(await mint(typ, claims), settings)).toBe('bearer_refused');
});

test('more than 300 forgeries were tried', () => {
  expect(shapes.flatMap(forgeries).length).toBeGreaterThan(300);
});
