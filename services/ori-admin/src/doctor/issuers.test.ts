import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IssuerEntry } from '@ori/identity/issuers-file';
import { ConfigError } from '@ori/runtime/config';
import { startIssuer } from '@ori/test-env/issuer';
import type { TokenOptions } from '@ori/test-env/issuer-tokens';
import { openRoom } from '@ori/test-env/room';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { examine, type Finding } from './finding.ts';
import { FIXES, lookAtIssuers, lookAtToken } from './issuers.ts';
import { loadIdentity } from './settings.ts';

const AUDIENCE = 'https://api.test/v1';
let issuer: Awaited<ReturnType<typeof startIssuer>>;
let room: Awaited<ReturnType<typeof openRoom>>;
beforeAll(async () => {
  [issuer, room] = await Promise.all([startIssuer({ audience: AUDIENCE }), openRoom('ori-issuers')]);
});
afterAll(async () => {
  await issuer?.[Symbol.asyncDispose]();
  await room?.[Symbol.asyncDispose]();
});

/** What the start of the signer, or else doctor, says of a file with this entry, and of a token; nothing if all is well. */
async function complaints(entry: object, token?: string): Promise<string[]> {
  const file = join(room.directory, 'issuers.json');
  writeFileSync(file, JSON.stringify({ issuers: [{ issuer: issuer.url, ...entry }] }), { mode: 0o600 });
  try {
    const config = loadIdentity('SIGNER', { SIGNER_ISSUERS_FILE: file, SIGNER_BASE_URL: AUDIENCE });
    const findings: Finding[] = await lookAtIssuers('SIGNER', config);
    if (token !== undefined) findings.push(await examine('token', () => lookAtToken(config, token), ''));
    return findings.filter(({ state }) => state !== 'ok').map(({ found, fix }) => `${found}, do: ${fix}`);
  } catch (error) {
    if (error instanceof ConfigError) return [...error.problems];
    throw error;
  }
}

type Members<T, Within extends string> = `${Within}.${keyof NonNullable<T> & string}`;
/** The path of every setting of an entry. */
type Setting =
  | Exclude<keyof IssuerEntry, 'claims' | 'scopes' | 'introspection' | 'signIn'>
  | Members<IssuerEntry['claims'], 'claims'>
  | Members<IssuerEntry['scopes'], 'scopes'>
  | Members<IssuerEntry['introspection'], 'introspection'>
  | Members<IssuerEntry['signIn'], 'signIn'>;

/** An entry that is right but for one setting, and the token that shows it where the issuer alone does not. */
interface Mistake {
  readonly entry: object | (() => object);
  readonly token?: TokenOptions;
  readonly opaque?: TokenOptions;
  /** What the issuer's endpoint of introspection answers otherwise. */
  readonly behaviour?: 'html' | 'redirecting';
}

const asking = (changes: object = {}) => {
  const { id: clientId, secret: clientSecret } = issuer.introspectionClient;
  return { introspection: { clientId, clientSecret, ...changes } };
};
const endpoint = (path: string) => () => asking({ endpoint: `${issuer.url}${path}` });

const MISTAKES: Readonly<Record<Setting, Mistake | readonly Mistake[]>> = {
  issuer: [
    { entry: () => ({ issuer: `${issuer.url}/` }) },
    { entry: () => ({ issuer: `${issuer.url}/tenant` }) },
    { entry: { issuer: 'http://127.0.0.1:1' } },
    { entry: { issuer: 'http://login.test' } },
  ],
  audience: { entry: { audience: 'https://other.test' }, token: {} },
  clients: { entry: { clients: ['other'] }, token: {} },
  tokenTypes: { entry: { tokenTypes: ['JWT'] }, token: {} },
  'claims.subject': [
    { entry: { claims: { subject: 'oid' } }, token: {} },
    { entry: { claims: { subject: 'ext.email' } } },
  ],
  'claims.client': { entry: { claims: { client: 'cid' } }, token: {} },
  'claims.scope': { entry: { claims: { scope: 'scp' } }, token: {} },
  'claims.authTime': [
    { entry: { claims: { authTime: 'ext.auth_time' } }, token: { claims: { auth_time: 1 } } },
    { entry: { claims: { authTime: 'at' }, requireAuthTime: true }, token: { claims: { auth_time: 1 } } },
  ],
  'scopes.vault:read': { entry: { scopes: { 'vault:read': 'read' } }, token: {} },
  'scopes.interns': { entry: { scopes: { 'vault:read': 'vault:read', interns: 'staff' } }, token: {} },
  requireAuthTime: { entry: { requireAuthTime: true }, token: {} },
  tokenLifetimeMaxSeconds: { entry: { tokenLifetimeMaxSeconds: 60 }, token: {} },
  'introspection.endpoint': [
    { entry: endpoint('/nowhere') },
    { entry: endpoint('/jwks') },
    { entry: endpoint('/introspect'), behaviour: 'html' },
    { entry: endpoint('/introspect'), behaviour: 'redirecting' },
    { entry: () => asking({ endpoint: 'http://127.0.0.1:1/introspect' }) },
  ],
  'introspection.clientId': { entry: () => asking({ clientId: 'other' }) },
  'introspection.clientSecret': { entry: () => asking({ clientSecret: 'other' }) },
  'introspection.authMethod': {
    entry: () => asking({ authMethod: 'none', clientSecret: undefined }),
  },
  'introspection.tokenPrefix': { entry: () => asking({ tokenPrefix: 'ory_at_' }), opaque: {} },
  'introspection.withoutAudience': { entry: () => asking(), opaque: { claims: { aud: undefined } } },
  'signIn.clientId': { entry: { signIn: { clientId: 'other' } } },
  'signIn.scopes': { entry: { signIn: { scopes: ['profile'] } } },
  'signIn.resource': { entry: { signIn: { resource: false } }, token: { claims: { aud: 'account' } } },
  'signIn.consent': { entry: { signIn: { consent: 'no' } } },
  // Only the issuer knows which port it allows: ori names this setting when no redirect arrives.
  'signIn.redirectPort': { entry: { signIn: { redirectPort: 70_000 } } },
};

const rows = Object.entries(MISTAKES).flatMap(([setting, mistakes]) =>
  [mistakes].flat().map((mistake, at): [string, number, Mistake] => [setting, at + 1, mistake]),
);

it.each(rows)(
  'names %s where it is wrong (%i), and advises nobody to wait',
  async (setting, _at, mistake) => {
    const { entry, token, opaque, behaviour } = mistake;
    const given = token === undefined ? opaque && issuer.opaqueToken(opaque) : await issuer.token(token);
    if (behaviour !== undefined) issuer.behave(behaviour, 'introspection');
    const said = await complaints(typeof entry === 'function' ? entry() : entry, given);
    issuer.behave('good');
    expect(said).not.toEqual([]);
    expect(said.filter((sentence) => /try again|in a moment|later/i.test(sentence))).toEqual([]);
    const [member = '', within] = setting.split('.');
    const name = member === 'scopes' ? 'scopes' : (within ?? member);
    expect(said.join('\n')).toMatch(new RegExp(`\\b${name}\\b`));
  },
);

it.each(Object.keys(MISTAKES))('names %s where it is of another kind', async (setting) => {
  const [member = '', within] = setting.split('.');
  const required = member === 'introspection' ? asking().introspection : {};
  const wrong = { wrong: true };
  const entry = within === undefined ? { [member]: wrong } : { [member]: { ...required, [within]: wrong } };
  expect((await complaints(entry)).map((problem) => problem.split(': ')[1])).toEqual([
    `issuers[0].${setting}`,
  ]);
});

/** Each claim of the table, and a token that is refused for it; else one that the issuer is asked about. */
const CLAIMS: Readonly<Record<string, TokenOptions>> = {
  typ: { header: { typ: 'JWT' } },
  alg: { forge: 'hmac' },
  crit: { forge: 'garbage', header: { crit: ['exp'] } },
  aud: { claims: { aud: 'https://other.test' } },
  'client among aud': { header: { typ: 'JWT' }, claims: { aud: [AUDIENCE, 'ori-cli'] } },
  iss: { claims: { iss: 'https://other.test' } },
  client: { claims: { client_id: 'other' } },
  sub: { claims: { sub: 7 } },
  scope: { header: { typ: 'JWT' }, claims: { scope: undefined } },
  exp: { expiresInSeconds: -60 },
  nbf: { claims: { nbf: 4_000_000_000 } },
  iat: { claims: { iat: 'now' } },
  lifetime: { expiresInSeconds: 86_401 },
  auth_time: { claims: { auth_time: 'today' } },
  act: { claims: { act: { sub: 'service' } } },
  cnf: { claims: { cnf: { 'x5t#S256': 'x' } } },
  token_use: { header: { typ: 'JWT' }, claims: { token_use: 'id' } },
  ...Object.fromEntries(
    ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'].map((name) => [
      name,
      { header: { typ: 'JWT' }, claims: { [name]: 'x' } },
    ]),
  ),
};
const ASKED: Readonly<Record<string, (() => string) | TokenOptions>> = {
  active: () => 'a-token-that-nobody-has',
  token_type: { claims: { token_type: 'mac' } },
  length: () => 'a'.repeat(8193),
};

it('has advice for each claim that a token can be refused for', () => {
  const aliases = ['client_id', 'azp'];
  expect([...Object.keys(CLAIMS), ...Object.keys(ASKED), ...aliases].toSorted()).toEqual(
    Object.keys(FIXES).toSorted(),
  );
});

it.each([...Object.entries(CLAIMS), ...Object.entries(ASKED)])(
  'names %s of a token that is refused for it, and what to do',
  async (claim, given) => {
    const isAsked = Object.hasOwn(ASKED, claim);
    const entry = isAsked ? asking() : { tokenTypes: claim === 'typ' ? ['at+jwt'] : ['at+jwt', 'JWT'] };
    const opaque = () => (typeof given === 'function' ? given() : issuer.opaqueToken(given));
    const token = isAsked ? opaque() : await issuer.token(given as TokenOptions);
    const [said = '', ...others] = await complaints(entry, token);
    expect(others).toEqual([]);
    expect(said).toContain(`, do: ${FIXES[claim]}`);
    expect(said).toMatch(claim === 'cnf' ? /certificate/ : new RegExp(`refused for its ${claim}`));
  },
);

it('says nothing of a file without a mistake', async () => {
  expect(await complaints({}, await issuer.token())).toEqual([]);
  expect(await complaints(asking(), issuer.opaqueToken())).toEqual([]);
});
