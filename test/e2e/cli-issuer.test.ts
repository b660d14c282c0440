import { lstat, mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../env/ports.ts';
import { runOri, startOri } from './cli-in-process.ts';
import { makeOriHome, type OriHome } from './cli-process.ts';
import { type IdTokenBend, type ScriptedIssuer, startScriptedIssuer } from './cli-scripted-issuer.ts';
import { listen, send } from './cli-world.ts';

let api: Awaited<ReturnType<typeof listen>>;
let issuer: ScriptedIssuer;
let home: OriHome;
let metadata: Record<string, unknown>;

beforeEach(async () => {
  issuer = await startScriptedIssuer();
  api = await listen((_req, res) => send(res, { status: 200, body: metadata }));
  const baseUrl = `${api.url}/v1`;
  metadata = { resource: baseUrl, authorization_servers: [issuer.url], scopes_supported: ['vault:read'] };
  home = await makeOriHome({ ORI_BASE_URL: baseUrl });
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await api.stop();
  await issuer[Symbol.asyncDispose]();
});

/** Follows the redirect that `ori login` waits for: its page, what the shown address asks for, and the result. */
async function follow(args: string[] = [], by = home, changes: Record<string, string | undefined> = {}) {
  const login = startOri(by, ['login', '--no-browser', ...args]);
  const [, url = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
  const page = await (await fetch(issuer.redirectOf(url, changes))).text();
  const asked: Record<string, string> = Object.fromEntries(new URL(url).searchParams);
  return { page, asked, ...(await login.result) };
}

const signIn = (changes?: Record<string, string | undefined>) => follow(['--oidc'], home, changes);

async function expectNothingStored(): Promise<void> {
  await expect(lstat(home.sessionFile)).rejects.toMatchObject({ code: 'ENOENT' });
}

it('signs in at a correct issuer, and sends the verifier and the resource with the code', async () => {
  expect(await signIn()).toMatchObject({ exit: 0, stdout: 'Signed in as user_2abc.\n' });
  const form = Object.fromEntries(issuer.tokenRequests[0]?.form ?? []);
  expect(form).toMatchObject({
    grant_type: 'authorization_code',
    code: 'the-code',
    client_id: 'ori-cli',
    resource: `${api.url}/v1`,
    code_verifier: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(await home.session()).toMatchObject({
    refresh_token: 'opaque-refresh',
    scope: 'openid offline_access vault:read',
  });
});

it.each([
  ['stays', 1000, 1000, undefined],
  ['never was', undefined, 1000, undefined],
  ['moves', 1000, 1001, 'dated your sign-in anew'],
  ['is dropped', 1000, undefined, 'left the time of your sign-in'],
])('says once if the time of the sign-in %s at the first renewal', async (_what, before, after, told) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const give = (auth_time?: number) => {
    issuer.tokenMembers = { access_token: `${part({ alg: 'none' })}.${part({ auth_time })}.` };
  };
  give(before);
  await signIn();
  give(after);
  const renewals: string[] = [];
  for (let turn = 0; turn < 2; turn++) {
    await home.changeSession({ expires_at: 1 });
    renewals.push((await runOri(home, ['token'])).stderr);
  }
  expect(renewals).toEqual([told === undefined ? '' : expect.stringContaining(told), '']);
});

it('says that the issuer does not bind sessions, and unbinds no profile that was bound', async () => {
  const { stderr } = await signIn();
  expect(stderr).toContain('not bound to a key, because the issuer does not offer DPoP');
  issuer.metadata = { dpop_signing_alg_values_supported: ['ES256'] };
  issuer.tokenMembers = { token_type: 'DPoP' };
  expect(await signIn()).toMatchObject({ exit: 0 });
  issuer.metadata = {};
  issuer.tokenMembers = {};
  const refused = await runOri(home, ['login', '--no-browser', '--json']);
  expect(refused).toMatchObject({ exit: 3, stdout: '' });
  expect(refused.stderr).toContain('"code":"sign_in_differs"');
  expect(refused.stderr).toContain('ori login --unbound');
  expect((await runOri(home, ['whoami'])).stdout).toMatch(/^ {2}bound +to a key/m);
  expect(await follow(['--unbound'])).toMatchObject({ exit: 0 });
  // Remembered, although the issuer offers it again.
  issuer.metadata = { dpop_signing_alg_values_supported: ['ES256'] };
  expect((await follow()).stderr).toContain('as you chose');
});

it('requests the scopes of the last sign-in of the profile, until others are named', async () => {
  metadata = { ...metadata, scopes_supported: ['vault:read', 'interns'] };
  const requested = async (...named: string[]) => {
    const { exit, asked } = await follow(named);
    expect(exit).toBe(0);
    return asked['scope'];
  };
  const session = 'openid offline_access';
  expect(await requested()).toBe(`${session} vault:read interns`);
  expect(await requested('--scope', 'vault:read')).toBe(`${session} vault:read`);
  expect(await requested()).toBe(`${session} vault:read`);
  expect(await requested('--scope', 'vault:read interns')).toBe(`${session} vault:read interns`);
});

/** `--trust` takes what was shown before. */
async function beShown(): Promise<void> {
  expect(await runOri(home, ['login', '--no-browser'])).toMatchObject({ exit: 3 });
}

/** What an issuer such as Entra needs: no `resource`, scopes of its own, and one redirect address. */
function needs(members: Record<string, unknown>): void {
  metadata = { ...metadata, 'x-ori_sign_in': [{ issuer: issuer.url, ...members }] };
}

it('asks an issuer as the API says, and renews that way too', async () => {
  const redirect_port = await freePort();
  const scopes = ['api://ori/vault.read', 'api://ori/interns'];
  needs({ client_id: 'from-the-api', scopes, resource: false, redirect_port });
  issuer.idToken = { claims: { aud: 'from-the-api' } };
  await beShown();
  const { asked, exit, stderr } = await follow(['--trust']);
  expect(asked).toMatchObject({
    client_id: 'from-the-api',
    scope: `openid offline_access ${scopes.join(' ')}`,
    redirect_uri: `http://127.0.0.1:${redirect_port}/callback`,
  });
  expect([exit, stderr.includes('cannot sign')]).toEqual([0, false]);
  await endToken();
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 0 });
  expect(issuer.tokenRequests.map(({ form }) => form.get('grant_type'))).toEqual([
    'authorization_code',
    'refresh_token',
  ]);
  expect([asked, ...issuer.tokenRequests.map(({ form }) => Object.fromEntries(form))]).not.toContainEqual(
    expect.objectContaining({ resource: expect.anything() }),
  );
});

it('signs a device in without `resource` where the issuer gets none', async () => {
  needs({ resource: false });
  await beShown();
  expect(await runOri(home, ['login', '--device', '--trust'])).toMatchObject({ exit: 0 });
  expect(issuer.tokenRequests.map(({ form }) => form.has('resource'))).toEqual([false]);
});

it('asks the person to agree, unless the API says that nobody need', async () => {
  expect((await follow()).asked).toMatchObject({ prompt: 'consent' });
  needs({ consent: false });
  expect((await follow()).asked).not.toHaveProperty('prompt');
});

it('prefers --redirect-port and ORI_CLIENT_ID to what the API says', async () => {
  const [other, port] = [await freePort(), await freePort()];
  needs({ client_id: 'from-the-api', redirect_port: other });
  await using own = await makeOriHome({ ...home.environment, ORI_CLIENT_ID: 'ori-cli' });
  expect(await follow(['--redirect-port', String(port)], own)).toMatchObject({
    exit: 0,
    asked: { client_id: 'ori-cli', redirect_uri: `http://127.0.0.1:${port}/callback` },
  });
});

it('reports that the port of the redirect address is in use', async () => {
  const port = new URL(api.url).port;
  const refused = await runOri(home, ['login', '--no-browser', '--redirect-port', port]);
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain(`Cannot listen on 127.0.0.1:${port}`);
});

it('signs in at the chosen one of several issuers, and keeps it for the profile', async () => {
  await using elsewhere = await startScriptedIssuer();
  const several = [elsewhere.url, issuer.url];
  metadata = { ...metadata, authorization_servers: several };
  for (const [args, said] of [
    [[], `accepts sign-ins from several issuers: ${several.join(', ')}.`],
    [
      ['--issuer', `${issuer.url}/`],
      `${issuer.url}/ is not an issuer of ${api.url}/v1. It has: ${several.join(', ')}.`,
    ],
  ] as const) {
    const refused = await runOri(home, ['login', '--no-browser', ...args]);
    expect(refused).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining(said) });
    expect(refused.stderr).toContain('ori login --issuer URL');
  }
  await expectNothingStored();
  expect(await follow(['--issuer', issuer.url])).toMatchObject({ exit: 0 });
  expect(await follow()).toMatchObject({ exit: 0 });
  expect([issuer.tokenRequests.length, elsewhere.tokenRequests.length]).toEqual([2, 0]);
  metadata = { ...metadata, authorization_servers: [elsewhere.url, 'https://issuer.example.com'] };
  expect(await runOri(home, ['login', '--no-browser'])).toMatchObject({ exit: 2, stdout: '' });
});

it('refuses an issuer that is not the API’s only one', async () => {
  const refused = await runOri(home, ['login', '--no-browser', '--issuer', 'https://issuer.example.com']);
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining(`It has: ${issuer.url}.`) });
});

it('keeps the client of the profile at the same issuer, where the API names none', async () => {
  needs({ client_id: 'once-named' });
  issuer.idToken = { claims: { aud: 'once-named' } };
  await beShown();
  await follow(['--trust']);
  needs({});
  expect((await follow()).asked['client_id']).toBe('once-named');
});

it.each<[string, IdTokenBend]>([
  ['another nonce', { claims: { nonce: 'other' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['another audience', { claims: { aud: 'someone-else' } }],
  ['another issuer', { claims: { iss: 'https://issuer.example.com' } }],
  ['an end in the past', { claims: { exp: 1_000_000_000 } }],
  ['no subject', { claims: { sub: undefined } }],
  ['the signature of another key', { foreignKey: true }],
  ['no signature', { left: 'unsigned', header: { alg: 'none' } }],
  ['an algorithm that is not allowed', { header: { alg: 'HS256' } }],
  ['nothing at all', { left: 'out' }],
])('refuses a sign-in whose ID token has %s', async (_what, bend) => {
  issuer.idToken = bend;
  const { exit, stdout, page } = await signIn();
  expect([exit, stdout]).toEqual([4, '']);
  expect(page).toContain('not signed in');
  await expectNothingStored();
});

it.each([
  ['of a type that needs a key', { token_type: 'DPoP' }],
  ['that does not fit into a header', { access_token: 'a\r\nx-evil: 1' }],
])('refuses a sign-in with an access token %s', async (_what, members) => {
  issuer.tokenMembers = members;
  const { exit, stdout, stderr } = await signIn();
  expect([exit, stdout]).toEqual([4, '']);
  expect(stderr).not.toContain('x-evil');
  await expectNothingStored();
});

it.each([
  ['of another issuer', { iss: 'https://issuer.example.com' }],
  ['of no issuer, from one that always says', { iss: undefined }],
])('sends no code to the issuer from a redirect %s', async (_what, changes) => {
  const { exit, stdout } = await signIn(changes);
  expect([exit, stdout]).toEqual([4, '']);
  expect(issuer.tokenRequests).toEqual([]);
  await expectNothingStored();
});

it('prints the issuer’s message when it refuses the code', async () => {
  issuer.tokenAnswers.push({
    status: 400,
    body: { error: 'invalid_grant', error_description: 'used \u001b[2J twice' },
  });
  const { exit, stderr } = await signIn();
  expect(exit).toBe(4);
  expect(stderr).toContain('invalid_grant');
  expect(stderr).not.toContain('\u001b');
});

it.each([
  ['is that of another address', { resource: 'https://api.example.com/v1' }, 4],
  ['is that of a prefix', { resource: 'ORIGIN' }, 4],
  ['names an issuer on plain http', { authorization_servers: ['http://issuer.example.com'] }, 4],
  ['names no issuer', { authorization_servers: [] }, 6],
  ['is something else', { resource: 7 }, 6],
])('contacts no issuer if the metadata %s', async (_what, changes, exit) => {
  metadata = JSON.parse(JSON.stringify({ ...metadata, ...changes }).replace('ORIGIN', api.url));
  const login = await runOri(home, ['login', '--oidc', '--no-browser']);
  expect(login).toMatchObject({ exit, stdout: '' });
  expect(login.stderr).not.toContain('Open this page');
});

it.each([
  ['calls itself otherwise', { issuer: 'https://issuer.example.com' }],
  ['takes codes on plain http elsewhere', { token_endpoint: 'http://issuer.example.com/token' }],
  [
    'shows its page on plain http elsewhere',
    { authorization_endpoint: 'http://issuer.example.com/authorize' },
  ],
  ['shows its page at no web address', { authorization_endpoint: 'javascript:alert(1)' }],
  ['keeps its keys on plain http elsewhere', { jwks_uri: 'http://issuer.example.com/jwks' }],
])('opens no page of an issuer that %s', async (_what, changes) => {
  issuer.metadata = changes;
  const login = await runOri(home, ['login', '--oidc', '--no-browser']);
  expect(login.exit).not.toBe(0);
  expect(login.stdout).toBe('');
  expect(login.stderr).not.toContain('Open this page');
});

it('does not follow the metadata to another place', async () => {
  const elsewhere = await listen((_req, res) => send(res, { status: 200, body: metadata }));
  const moved = await listen((req, res) =>
    send(res, { status: 302, headers: { location: `${elsewhere.url}${req.url}` } }),
  );
  const login = await runOri(home, ['--base-url', `${moved.url}/v1`, 'login', '--oidc', '--no-browser']);
  await Promise.all([elsewhere.stop(), moved.stop()]);
  expect(login).toMatchObject({ exit: 6, stdout: '' });
  expect(login.stderr).toContain('302');
});

it('signs a device in despite "not yet", "slow down", "too many" and a lost connection', async () => {
  const pending = { status: 400, body: { error: 'authorization_pending' } };
  const slowDown = { status: 400, body: { error: 'slow_down' } };
  issuer.tokenAnswers.push(pending, 'cut', { status: 429, body: { error: 'too_many_requests' } }, slowDown);
  const login = startOri(home, ['login', '--oidc', '--device']);
  await login.told(/enter the code\n {2}BCDF-GHJK\n/);
  expect(await login.result).toMatchObject({ exit: 0, stdout: 'Signed in as user_2abc.\n' });
  const [, , third = 0, fourth = 0, last = 0] = issuer.tokenRequests.map(({ at }) => at);
  expect([fourth - third > 390, last - fourth > 5000]).toEqual([true, true]);
});

it.each([
  ['denied', { status: 400, body: { error: 'access_denied' } }, 4, 'denied'],
  ['that ran out', { status: 400, body: { error: 'expired_token' } }, 6, 'not completed'],
  ['of a client that may not', { status: 401, body: { error: 'invalid_client' } }, 4, 'invalid_client'],
])('stores nothing of a device sign-in %s', async (_what, answer, exit, word) => {
  issuer.tokenAnswers.push(answer);
  const login = await runOri(home, ['login', '--oidc', '--device']);
  expect(login).toMatchObject({ exit, stdout: '' });
  expect(login.stderr).toContain(word);
  await expectNothingStored();
});

it('refuses a device sign-in whose ID token has the signature of another key', async () => {
  issuer.idToken = { foreignKey: true };
  expect(await runOri(home, ['login', '--oidc', '--device'])).toMatchObject({ exit: 4, stdout: '' });
  await expectNothingStored();
});

it('shows no device code for a page that is not safe to open, and none that controls the terminal', async () => {
  const good = issuer.deviceAnswer;
  for (const verification_uri of ['http://issuer.example.com/activate', 'javascript:alert(1)']) {
    issuer.deviceAnswer = { ...good, verification_uri };
    const login = await runOri(home, ['login', '--oidc', '--device']);
    expect(login).toMatchObject({ exit: 4, stdout: '' });
    expect(login.stderr).not.toContain('BCDF-GHJK');
  }
  issuer.deviceAnswer = { ...good, user_code: '\u001b[2JABCD' };
  const login = await runOri(home, ['login', '--oidc', '--device']);
  expect(login.stderr).toContain('\\u{1b}[2JABCD');
});

it('reports that the issuer has no device flow', async () => {
  issuer.metadata = { device_authorization_endpoint: undefined };
  const login = await runOri(home, ['login', '--oidc', '--device']);
  expect(login).toMatchObject({ exit: 4, stdout: '' });
  expect(login.stderr).toContain('does not offer the device flow');
});

it('gives up on a device that nobody confirms', async () => {
  issuer.deviceAnswer = { ...issuer.deviceAnswer, interval: 3600 };
  const login = await runOri(home, ['login', '--oidc', '--device', '--timeout', '1']);
  expect(login).toMatchObject({ exit: 6, stdout: '' });
  expect(login.stderr).toContain('within 1 s');
  issuer.deviceAnswer = { ...issuer.deviceAnswer, expires_in: 2 };
  expect((await runOri(home, ['login', '--oidc', '--device'])).stderr).toContain('within 2 s');
});

it('stops waiting for a device at once when interrupted, whatever the interval', async () => {
  issuer.deviceAnswer = { ...issuer.deviceAnswer, expires_in: 3600, interval: 3600 };
  const login = home.start(['login', '--oidc', '--device']);
  await login.told(/Waiting/);
  login.child.kill('SIGINT');
  expect(await login.result).toMatchObject({ exit: 130, stdout: '' });
});

it.each([
  ['a JWT', 'aGVhZA.cGF5bG9hZA.c2ln', ['refresh_token']],
  ['opaque', 'opaque-access', ['refresh_token', 'access_token']],
])('revokes what can be revoked if the access token is %s', async (_what, token, kinds) => {
  issuer.tokenMembers = { access_token: token };
  await signIn();
  expect(await runOri(home, ['logout'])).toMatchObject({ exit: 0, stderr: '' });
  const tokens: Record<string, string> = { refresh_token: 'opaque-refresh', access_token: token };
  expect(issuer.revocations).toEqual(
    kinds.map((kind) => ({ token: tokens[kind], token_type_hint: kind, client_id: 'ori-cli' })),
  );
});

it('signs out at an issuer that answers 204, and keeps access tokens until they end', async () => {
  const kept = { status: 400, body: { error: 'unsupported_token_type' } };
  await signIn();
  issuer.revocationAnswers.push({ status: 204 }, kept);
  expect(await runOri(home, ['logout'])).toMatchObject({ exit: 0, stderr: '' });
  await signIn();
  issuer.revocationAnswers.push(kept);
  expect(await runOri(home, ['logout'])).toMatchObject({ exit: 6 });
});

it('signs out at an issuer without revocation, and says so', async () => {
  await signIn();
  issuer.metadata = { revocation_endpoint: undefined };
  const out = await runOri(home, ['logout']);
  expect(out).toMatchObject({ exit: 0, stdout: 'Signed out user_2abc.\n' });
  expect(out.stderr).toContain('does not revoke tokens');
  await expectNothingStored();
});

it('ends a session whose refresh names another user', async () => {
  await signIn();
  await endToken();
  issuer.idToken = { claims: { sub: 'user_other' } };
  const who = await runOri(home, ['whoami']);
  expect(who).toMatchObject({ exit: 3, stdout: '' });
  expect(who.stderr).toContain('another user');
});

/** Makes the next command renew the session. */
const endToken = () => home.changeSession({ expires_at: 1 });

it.each<[string, Record<string, unknown>, IdTokenBend]>([
  ['an ID token that ended', {}, { claims: { exp: 1_000_000_000 } }],
  ['an ID token for someone else', {}, { claims: { aud: 'someone-else' } }],
  ['a token of a type that needs a key', { token_type: 'DPoP' }, {}],
  ['a life that is no number', { expires_in: 'long' }, {}],
])('keeps the new refresh token that comes with %s', async (_what, members, bend) => {
  await signIn();
  await endToken();
  issuer.tokenMembers = { refresh_token: 'successor', ...members };
  issuer.idToken = bend;
  const refused = await runOri(home, ['whoami']);
  expect(refused.exit).not.toBe(0);
  expect(refused.stderr).not.toContain('Nothing was stored');
  expect((await home.session()).refresh_token).toBe('successor');

  issuer.tokenMembers = {};
  issuer.idToken = {};
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 0 });
  expect(issuer.tokenRequests.at(-1)?.form.get('refresh_token')).toBe('successor');
});

const BUSY = [
  [503, 'temporarily_unavailable'],
  [429, 'too_many_requests'],
  [429, 'slow_down'],
  [400, 'temporarily_unavailable'],
  [400, 'server_error'],
] as const;

it.each(BUSY)('survives a moment in which the issuer answers %i %s', async (status, error) => {
  await signIn();
  await home.changeSession({ expires_at: Math.floor(Date.now() / 1000) + 20 });
  issuer.tokenAnswers.push({ status, body: { error } }, { status, body: { error } });
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 0 });
  await endToken();
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 6, stdout: '' });
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 0 });
});

it.each([
  [400, 'invalid_request'],
  [401, 'invalid_client'],
  [200, 'invalid_grant'],
])('asks for a new sign-in if the issuer refuses the refresh token with %i %s', async (status, error) => {
  await signIn();
  await endToken();
  issuer.tokenAnswers.push({ status, body: { error } });
  const refused = await runOri(home, ['whoami']);
  expect(refused).toMatchObject({ exit: 3, stdout: '' });
  expect(refused.stderr).toContain('ori login');
  // What was not said of the token itself may be repaired at the issuer.
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 0 });
});

it('spends no refresh token whose successor it could not store', async () => {
  await signIn();
  await endToken();
  const sent = issuer.tokenRequests.length;
  await mkdir(`${home.sessionFile}.tmp/in the way`, { recursive: true });
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 1, stdout: '' });
  expect(issuer.tokenRequests).toHaveLength(sent);
});

it.each([
  ['null', 'refresh_token', {}, { refresh_token: null }],
  ['null', 'expires_in', {}, { expires_in: null }],
  ['null', 'device_authorization_endpoint', { device_authorization_endpoint: null }, {}],
  ['an empty text', 'refresh_token', {}, { refresh_token: '' }],
  ['an empty text', 'device_authorization_endpoint', { device_authorization_endpoint: '' }, {}],
])('takes %s for an absent %s', async (_what, _name, members, tokenMembers) => {
  issuer.metadata = members;
  issuer.tokenMembers = tokenMembers;
  expect(await signIn()).toMatchObject({ exit: 0 });
});

it('proves its key by the time of the issuer, and not of a cache', async () => {
  metadata = { ...metadata, dpop_signing_alg_values_supported: ['ES256'] };
  issuer.metadata = { dpop_signing_alg_values_supported: ['ES256'] };
  issuer.cachedHeaders = { date: new Date(Date.now() - 120_000).toUTCString() };
  issuer.tokenMembers = { token_type: 'DPoP' };
  expect(await signIn()).toMatchObject({ exit: 0 });
  const [, payload = ''] = String(issuer.tokenRequests.at(-1)?.dpop).split('.');
  const { iat } = JSON.parse(Buffer.from(payload, 'base64url').toString());
  expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
});

it('marks a session that the issuer ended, and does not renew it again', async () => {
  await signIn();
  await endToken();
  issuer.tokenAnswers.push({ status: 400, body: { error: 'invalid_grant' } });
  for (const command of ['whoami', 'whoami']) {
    const ended = await runOri(home, [command]);
    expect(ended).toMatchObject({ exit: 3, stdout: '' });
    expect(ended.stderr).toContain('The session has ended (invalid_grant)');
  }
  expect(issuer.tokenRequests).toHaveLength(2);
  expect(JSON.parse((await runOri(home, ['profiles', '--json'])).stdout)).toMatchObject([{ state: 'ended' }]);
  expect(await signIn()).toMatchObject({ exit: 0 });
  expect(await runOri(home, ['whoami'])).toMatchObject({ exit: 0 });
});

it('limits the size of an issuer’s documents', async () => {
  await using endless = await listen((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (res.write(' '.repeat(64 * 1024)));
      res.once('drain', more);
    };
    more();
  });
  metadata = { ...metadata, authorization_servers: [endless.url] };
  const login = await runOri(home, ['login', '--no-browser']);
  expect(login).toMatchObject({ exit: 6, stdout: '' });
  expect(login.stderr).toContain('too long');
});

it.each([
  ['that neither the API nor the issuer supports', ['vault:read'], 2],
  ['that the issuer does not grant', undefined, 4],
])('stores nothing of a sign-in for a scope %s', async (_what, supported, exit) => {
  issuer.metadata = { scopes_supported: supported };
  issuer.tokenMembers = { scope: 'openid offline_access' };
  const login = startOri(home, ['login', '--no-browser', '--scope', 'bogus']);
  const url = await login.told(/sign in:\n {2}(\S+)\n/).catch(() => null);
  if (url?.[1] !== undefined) await fetch(issuer.redirectOf(url[1]));
  expect(await login.result).toMatchObject({ exit, stdout: '' });
  await expectNothingStored();
});
