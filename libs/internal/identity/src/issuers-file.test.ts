import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type IssuerDefaults, readIssuersFile } from './issuers-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ori-issuers-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'issuers.json');
const defaults = { audience: 'https://api.test/v1', clients: ['ori-cli'] };

function read(content: unknown, mode = 0o644, defaulted: IssuerDefaults = defaults) {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(path, mode);
  const problems: string[] = [];
  const issuers = readIssuersFile(path, defaulted, (problem) => problems.push(problem));
  return { issuers, problems };
}
const problemsOf = (...issuers: object[]) =>
  read({ issuers: issuers.map((entry) => ({ issuer: 'https://one.test', ...entry })) }, 0o600).problems;
const secret = 'hidden-client-secret';

test('an entry with nothing but its issuer is one of RFC 9068 with the defaults', () => {
  expect(read({ issuers: [{ issuer: 'https://one.test' }] })).toMatchObject({
    problems: [],
    issuers: [
      {
        ...defaults,
        lifetimeMaxSeconds: 86_400,
        requiresAuthTime: false,
        issuer: 'https://one.test',
        tokenTypes: ['at+jwt'],
        introspectionWithoutAudience: false,
        signIn: { clientId: 'ori-cli', scopes: ['vault:read', 'interns'], resource: true, consent: true },
      },
    ],
  });
});

test('the scopes of a sign-in are the issuer’s words for ours', () => {
  const scopes = { 'vault:read': 'api://ori/vault.read', interns: ['api://ori/interns', 'interns'] };
  const [only] = read({ issuers: [{ issuer: 'https://one.test', scopes }] }).issuers;
  expect(only?.signIn.scopes).toEqual(['api://ori/vault.read', 'api://ori/interns']);
  const [one] = read({ issuers: [{ issuer: 'https://one.test', scopes: { interns: 'staff' } }] }).issuers;
  expect(one?.signIn.scopes).toEqual(['vault:read', 'staff']);
});

test.each([
  ['ori-cli', ['other', 'ori-cli']],
  ['one', ['one', 'two']],
])('a sign-in is of the client %s where %j are accepted', (clientId, clients) => {
  const [only] = read({ issuers: [{ issuer: 'https://one.test', clients }] }).issuers;
  expect(only?.signIn.clientId).toBe(clientId);
});

test('an introspection is authenticated by Basic, and needs an audience, unless the file says otherwise', () => {
  const introspection = { clientId: 'ori', clientSecret: secret };
  const [only] = read({ issuers: [{ issuer: 'https://one.test', introspection }] }, 0o600).issuers;
  expect(only).toMatchObject({
    introspection: { authMethod: 'client_secret_basic', tokenPrefix: '' },
    introspectionWithoutAudience: false,
  });
});

test.each([
  { issuer: 'http://one.test' },
  { audience: 'ori-cli', tokenTypes: ['at+jwt'] },
  { tokenLifetimeMaxSeconds: 60 },
  { tokenLifetimeMaxSeconds: 604_800 },
  { introspection: { clientId: 'ori', clientSecret: secret, authMethod: 'client_secret_post' } },
  { introspection: { clientId: 'ori', authMethod: 'none', endpoint: 'http://127.0.0.1:4445/introspect' } },
  { introspection: { clientId: 'ori', clientSecret: secret, endpoint: 'https://admin.test/introspect' } },
])('%j is accepted', (entry) => {
  expect(problemsOf(entry)).toEqual([]);
});

test('an audience is required, of the entry or by default', () => {
  const without = { ...defaults, audience: undefined };
  const problemsWithout = (entry: object) =>
    read({ issuers: [{ issuer: 'https://one.test', ...entry }] }, 0o644, without).problems;
  expect(problemsWithout({})).toEqual([expect.stringContaining('issuers[0].audience')]);
  expect(problemsWithout({ audience: 'https://api.test' })).toEqual([]);
});

test.each([
  ['issuers[0].audience', { audience: 'ori-cli', tokenTypes: ['JWT'] }],
  ['issuers[0].audience', { audience: 'x', clients: ['x'], tokenTypes: ['none'] }],
  ['issuers[0].audience', { audience: 'x', clients: ['w', 'x'], tokenTypes: ['at+jwt', 'JWT'] }],
  ['issuers[0].claims.subject', { claims: { subject: 'email' } }],
  ['issuers[0].claims.subject', { claims: { subject: 'ext.preferred_username' } }],
  ['issuers[0].tokenTypes', { tokenTypes: [] }],
  ['issuers[0].tokenTypes[0]', { tokenTypes: ['id'] }],
  ['issuers[0].issuer', { issuer: 'one.test' }],
  ['issuers[0].issuer', { issuer: 'httpsx://one.test' }],
  ['issuers[0].issuer', { issuer: 'xhttps://one.test' }],
  ['issuers[0].tokenLifetimeMaxSeconds', { tokenLifetimeMaxSeconds: 59 }],
  ['issuers[0].tokenLifetimeMaxSeconds', { tokenLifetimeMaxSeconds: 604_801 }],
  ['issuers[0].scopes', { scopes: { admin: 'admin' } }],
  ['issuers[0]', { tokenType: ['JWT'] }],
  ['issuers[0].clients', { clients: [] }],
  ['issuers[0].introspection.clientSecret', { introspection: { clientId: 'ori' } }],
  [
    'issuers[0].introspection.clientSecret',
    { introspection: { clientId: 'ori', clientSecret: secret, authMethod: 'none' } },
  ],
  ...['http://admin.test/introspect', 'ftp://127.0.0.1/introspect', '/introspect'].map(
    (endpoint) =>
      [
        'issuers[0].introspection.endpoint',
        { introspection: { clientId: 'ori', clientSecret: secret, endpoint } },
      ] as [string, object],
  ),
  ['issuers[0].signIn.redirectPort', { signIn: { redirectPort: 0 } }],
])('%s is refused where it says %j', (place, entry) => {
  expect(problemsOf(entry).map((problem) => problem.split(':')[0])).toEqual([place]);
});

test('the same issuer twice is refused', () => {
  expect(problemsOf({}, {})).toEqual([expect.stringContaining('listed twice')]);
});

test('two issuers that introspect need prefixes, so that neither gets the tokens of the other', () => {
  const introspection = (tokenPrefix?: string) => ({
    introspection: { clientId: 'ori', clientSecret: secret, ...(tokenPrefix && { tokenPrefix }) },
  });
  const both = (one?: string, two?: string) =>
    read(
      {
        issuers: [
          { issuer: 'https://one.test', ...introspection(one) },
          { issuer: 'https://two.test', ...introspection(two) },
        ],
      },
      0o600,
    ).problems;
  expect(both()).toEqual([expect.stringContaining('tokenPrefix')]);
  expect(both('ory_at_')).toHaveLength(1);
  expect(both('ory', 'ory_at_')).toHaveLength(1);
  expect(both('ory_at_', 'two_')).toEqual([]);
});

test('a file with a client secret must be closed to others, and no problem quotes it', () => {
  const content = {
    issuers: [
      { issuer: 'https://one.test', introspection: { clientId: 'ori', clientSecret: secret, x: secret } },
    ],
  };
  expect(read(content, 0o644).problems).toEqual([expect.stringContaining('chmod')]);
  const { problems } = read(content, 0o600);
  expect(problems).toHaveLength(1);
  expect(problems.join()).not.toContain(secret);
});

test('a file that is no JSON is refused without a word of it', () => {
  const { problems } = read(secret);
  expect(problems).toHaveLength(1);
  expect(problems.join()).not.toContain(secret);
});

test.each([
  ['is no JSON', '{"issuers":['],
  ['is of another kind', '[]'],
  ['is empty', '{"issuers":[]}'],
])('a file that %s is refused', (_what, content) => {
  const { problems, issuers } = read(content);
  expect(problems).toHaveLength(1);
  expect(issuers).toEqual([]);
});

test('a file that is missing is refused', () => {
  const problems: string[] = [];
  readIssuersFile(join(folder, 'absent.json'), defaults, (problem) => problems.push(problem));
  expect(problems).toEqual([expect.stringContaining('ENOENT')]);
});
