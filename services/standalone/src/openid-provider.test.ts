import { createHash, createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CLIENT_ID, OPAQUE_CLIENT_ID } from './openid/configuration.ts';
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts';
import { renderCookies, walkThrough } from './person.ts';
import { type SignedIn, signIn } from './sign-in.ts';

const RESOURCE = 'http://127.0.0.1:8080/v1';
const SECRET = 'a-secret-of-the-signer';
const USERS = [
  { name: 'ada', subject: 'acct_ada', note: 'member <b>' },
  { name: 'grace', subject: 'acct_grace' },
];
const SCOPE = 'openid offline_access vault:read interns';

type Field =
  | ('access_token' | 'refresh_token' | 'device_code' | 'verification_uri_complete' | 'error')
  | ('active' | 'auth_time' | 'iat' | 'exp' | 'kid');
type Fields = Partial<Record<Field, unknown>>;

let provider: OpenIdProvider;
const printed = vi.spyOn(console, 'info');
const warned = vi.spyOn(console, 'warn');

beforeEach(async () => {
  provider = await startOpenIdProvider({ users: USERS, resource: RESOURCE, signerClientSecret: SECRET });
});
afterEach(() => provider.stop());

const signInAs = (user: string, clientId = CLIENT_ID, scope = SCOPE): Promise<SignedIn> =>
  signIn({ issuer: provider.issuer, clientId, resource: RESOURCE, user, scope });

async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields);
  const response = await fetch(provider.issuer + path, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Fields) };
}

function introspect(token: string, secret = SECRET) {
  const authorization = `Basic ${Buffer.from(`ori-signer:${secret}`).toString('base64')}`;
  return post('/token/introspection', { token }, { authorization });
}

function refresh(refreshToken: string) {
  const fields = {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: OPAQUE_CLIENT_ID,
  };
  return post('/token', fields);
}

function decode(part: string | undefined): Fields {
  return JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
}

function authorizationUrl(changes: Record<string, string | undefined> = {}): URL {
  const url = new URL('/auth', provider.issuer);
  const parameters = {
    client_id: CLIENT_ID,
    response_type: 'code',
    redirect_uri: 'http://127.0.0.1:49152/callback',
    scope: SCOPE,
    resource: RESOURCE,
    prompt: 'consent',
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** The page that a redirect leads the same browser to. */
function followedBy(response: Response): Promise<Response> {
  const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0]);
  const url = new URL(String(response.headers.get('location')), provider.issuer);
  return fetch(url, { headers: { cookie: cookies.join('; ') } });
}

it('gives ori-cli an at+jwt access token for the resource, signed with a published key, with the time of the sign-in', async () => {
  const { accessToken } = await signInAs('ada');
  const [header, payload, signature] = accessToken.split('.');
  const { kid, ...rest } = decode(header);
  expect(rest).toEqual({ alg: 'ES256', typ: 'at+jwt' });
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims = decode(payload);
  expect(claims).toMatchObject({
    iss: provider.issuer,
    aud: RESOURCE,
    sub: 'acct_ada',
    scope: 'vault:read interns',
  });
  for (const time of ['iat', 'auth_time'] as const)
    expect(Math.abs(Number(claims[time]) - nowSeconds)).toBeLessThan(10);
  expect(Number(claims.exp) - Number(claims.iat)).toBe(600);

  const { keys } = (await (await fetch(`${provider.issuer}/jwks`)).json()) as {
    keys: (JsonWebKey & { kid: string })[];
  };
  expect(keys.every((key) => !('d' in key))).toBe(true);
  const key = createPublicKey({
    key: keys.find((candidate) => candidate.kid === kid) ?? {},
    format: 'jwk',
  });
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature ?? '', 'base64url');
  expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true);
});

it('gives ori-cli-opaque an opaque access token, and only the signer can introspect it', async () => {
  const { accessToken, refreshToken } = await signInAs('grace', OPAQUE_CLIENT_ID);
  expect(accessToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const { status, body } = await introspect(accessToken);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    active: true,
    iss: provider.issuer,
    aud: RESOURCE,
    sub: 'acct_grace',
    scope: 'vault:read interns',
    token_type: 'Bearer',
    exp: expect.any(Number),
    auth_time: expect.any(Number),
  });
  expect((await introspect(accessToken, 'not the secret')).status).toBe(401);
  const asCli = await post('/token/introspection', {
    token: accessToken,
    client_id: OPAQUE_CLIENT_ID,
  });
  expect(asCli.body).toEqual({ active: false });
  expect((await introspect(refreshToken ?? '')).body).toEqual({ active: false });
  expect((await introspect('never-issued')).body).toEqual({ active: false });
});

it('grants exactly the requested scopes, and no refresh token without offline_access', async () => {
  const { accessToken, refreshToken } = await signInAs('ada', CLIENT_ID, 'openid interns');
  expect(decode(accessToken.split('.')[1])).toMatchObject({ scope: 'interns' });
  expect(refreshToken).toBeUndefined();
});

it('rotates refresh tokens, keeps the time of the sign-in, and ends the grant when a spent one is reused', async () => {
  const signedIn = await signInAs('ada', OPAQUE_CLIENT_ID);
  const before = await introspect(signedIn.accessToken);
  const { body: refreshed } = await refresh(String(signedIn.refreshToken));
  expect(refreshed.refresh_token).not.toBe(signedIn.refreshToken);
  const after = await introspect(String(refreshed.access_token));
  expect(after.body).toMatchObject({ active: true, aud: RESOURCE, auth_time: before.body.auth_time });

  expect(await refresh(String(signedIn.refreshToken))).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  });
  expect(await refresh(String(refreshed.refresh_token))).toMatchObject({ status: 400 });
  expect((await introspect(String(refreshed.access_token))).body).toEqual({ active: false });
});

it('revokes an opaque access token, and with a refresh token everything of its grant, for its own client only', async () => {
  const { accessToken, refreshToken } = await signInAs('ada', OPAQUE_CLIENT_ID);
  const token = String(refreshToken);
  await post('/token/revocation', { token, client_id: CLIENT_ID });
  expect((await introspect(accessToken)).body.active).toBe(true);
  expect((await post('/token/revocation', { token, client_id: OPAQUE_CLIENT_ID })).status).toBe(200);
  expect((await introspect(accessToken)).body).toEqual({ active: false });
  expect((await refresh(token)).status).toBe(400);
});

it('refuses a request without PKCE, one for another resource, and a plain challenge', async () => {
  const errorOf = async (changes: Record<string, string | undefined>) =>
    (await walkThrough(authorizationUrl(changes), { user: 'ada' }))?.searchParams.get('error');
  expect(await errorOf({ code_challenge: undefined, code_challenge_method: undefined })).toBe(
    'invalid_request',
  );
  expect(await errorOf({ code_challenge_method: 'plain' })).toBe('invalid_request');
  expect(await errorOf({ resource: 'http://127.0.0.1:9/other' })).toBe('invalid_target');
});

it('refuses a redirect that is not on loopback', async () => {
  const response = await fetch(authorizationUrl({ redirect_uri: 'http://evil.example/callback' }), {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('invalid_redirect_uri');
});

it('asks who signs in at every authorization request, whatever the browser’s cookies', async () => {
  const cookies = new Map<string, string>();
  await walkThrough(authorizationUrl(), { user: 'ada' }, cookies);
  expect([...cookies.keys()]).toContain('_session');
  const headers = { cookie: renderCookies(cookies) };
  const again = await fetch(authorizationUrl(), { headers, redirect: 'manual' });
  expect(await (await followedBy(again)).text()).toContain('Who is signing in?');
});

it('shows only pages without scripts, frames or outside parts, and escapes what they show', async () => {
  const response = await fetch(authorizationUrl(), { redirect: 'manual' });
  const page = await followedBy(response);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:49152;");
  expect(policy).not.toContain('script-src');
  const text = await page.text();
  expect(text).not.toMatch(/<script|onclick|onfocus|https:/);
  expect(text).toContain('member &#60;b&#62;');
  const device = await fetch(`${provider.issuer}/device?user_code=%22%3E%3Cb%3E`);
  expect(device.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await device.text()).toContain('value="&#34;&#62;&#60;b&#62;"');
});

it('answers a sign-in of another browser, or an unknown one, with an explanation', async () => {
  const { headers } = await fetch(authorizationUrl(), { redirect: 'manual' });
  const page = await fetch(new URL(String(headers.get('location')), provider.issuer));
  expect(page.status).toBe(400);
  expect(await page.text()).toContain('started in another browser');
});

it('answers its own Host only', async () => {
  const { port } = new URL(provider.issuer);
  expect((await fetch(`http://localhost:${port}/jwks`)).status).toBe(421);
});

it('starts and works without a warning from oidc-provider', async () => {
  printed.mockClear();
  warned.mockClear();
  await using quiet = await startOpenIdProvider({
    users: USERS,
    resource: RESOURCE,
    signerClientSecret: SECRET,
  });
  await signIn({ issuer: quiet.issuer, clientId: 'ori-cli', resource: RESOURCE, user: 'ada', scope: SCOPE });
  expect(printed).not.toHaveBeenCalled();
  expect(warned).not.toHaveBeenCalled();
});

it('shows browsers a page at an unknown address, and answers programs with a bare 404', async () => {
  for (const [accept, type] of [
    ['text/html,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['*/*', 'text/plain; charset=utf-8'],
  ] as const) {
    const response = await fetch(`${provider.issuer}/nowhere`, { headers: { accept } });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, type]);
    expect((await response.text()).includes(RESOURCE.replace('/v1', '/'))).toBe(accept !== '*/*');
  }
});
