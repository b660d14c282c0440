import { chmod, readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { INTERN_ID, type Scripted, startCliWorld, useCliWorld } from './cli-world.ts';

const SIGN = ['sign', INTERN_ID, '--path', '/api/invoke', '--data', '{}'];
const world = await useCliWorld();

const refusal = (message: string, error?: string): Scripted => ({
  status: 401,
  body: { error: { code: 401, message } },
  headers: { 'www-authenticate': error === undefined ? 'Bearer' : `DPoP error="${error}"` },
});

it('refreshes once if a server refuses a token of 30 s before it expires, and none that is new', async () => {
  await using home = await world.newSignedIn();
  const renewedAgo = (seconds: number) =>
    home.changeSession({ renewed_at: Math.floor(Date.now() / 1000) - seconds });
  const invalid = refusal('Who is that?', 'invalid_token');
  const tokens = async () => (await home.session()).refresh_token;
  await renewedAgo(30);
  world.scripted.push(invalid);
  expect(await home.ori(SIGN)).toMatchObject({ exit: 0 });
  const before = await tokens();
  await renewedAgo(10);
  world.scripted.push(invalid);
  const young = await home.ori(SIGN);
  expect(young).toMatchObject({ exit: 4, stdout: '', stderr: expect.stringContaining('Who is that?') });
  expect(await tokens()).toBe(before);
  await renewedAgo(30);
  world.scripted.push(invalid, invalid);
  const refused = await home.ori(SIGN);
  expect(refused).toMatchObject({ exit: 4, stdout: '', stderr: expect.stringContaining('Who is that?') });
  expect(await home.ori(SIGN)).toMatchObject({ exit: 0 });
});

it('refreshes a token that is from the future since the clock was corrected', async () => {
  await using home = await world.newSignedIn();
  const later = Math.floor(Date.now() / 1000) + 3600;
  await home.changeSession({ renewed_at: later, expires_at: later + 300 });
  world.scripted.push(refusal('Expired.', 'invalid_token'));
  expect(await home.ori(SIGN)).toMatchObject({ exit: 0 });
});

it.each([
  ['another error', 'insufficient_rights'],
  ['no error, and no refresh token', undefined],
])('shows what the API says in a 401 with %s, and keeps the session', async (_what, error) => {
  await using home = await world.newSignedIn();
  await home.changeSession({ renewed_at: 1, ...(error === undefined && { refresh_token: null }) });
  const before = await home.session();
  world.scripted.push(refusal('A management key is required.', error));
  const refused = await home.ori(['api', '/guardrails']);
  expect(refused).toMatchObject({ exit: 4, stdout: '' });
  expect(refused.stderr).toContain('A management key is required.');
  expect(await home.session()).toEqual(before);
});

it('asks to sign in again if the issuer refuses the refresh, or gave no refresh token', async () => {
  await using home = await world.newSignedIn();
  await home.changeSession({ expires_at: 1, refresh_token: 'no such token' });
  const refused = await home.ori(['whoami']);
  expect(refused).toMatchObject({ exit: 3, stdout: '' });
  expect(refused.stderr).toContain('Sign in again: ori login');
  await home.changeSession({ refresh_token: null });
  expect(await home.ori(['whoami'])).toMatchObject({ exit: 3 });
});

it('uses a token that is about to expire if the issuer is down, but not an expired one', async () => {
  await using world = await startCliWorld();
  await using home = await world.newSignedIn();
  await world.stopIssuer();
  await home.changeSession({ expires_at: Math.floor(Date.now() / 1000) + 25 });
  expect(await home.ori(SIGN)).toMatchObject({ exit: 0 });
  await home.changeSession({ expires_at: 1 });
  const down = await home.ori(SIGN);
  expect(down).toMatchObject({ exit: 6, stdout: '' });
  expect(down.stderr).toContain('Cannot reach the issuer');
});

it('removes the session when signing out while the issuer is down, and warns that it may still be valid', async () => {
  await using world = await startCliWorld();
  await using home = await world.newSignedIn();
  await world.stopIssuer();
  const out = await home.ori(['logout']);
  expect(out).toMatchObject({ exit: 6, stdout: '' });
  expect(out.stderr).toContain('signed out on this machine');
  await expect(readFile(home.sessionFile)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('does not use a session file that others can read, but revokes its session', async () => {
  await using home = await world.newSignedIn();
  await chmod(home.sessionFile, 0o644);
  world.requests.length = 0;
  expect(await home.ori(SIGN)).toMatchObject({ exit: 3, stdout: '' });
  expect(world.requests).toEqual([]);
  expect(await home.ori(['logout'])).toMatchObject({ exit: 0 });
});

it('removes a damaged session file and reports that nothing could be revoked', async () => {
  await using home = await world.newSignedIn();
  await writeFile(home.sessionFile, '{');
  expect(await home.ori(['whoami'])).toMatchObject({ exit: 3 });
  expect(await home.ori(['logout'])).toMatchObject({ exit: 6 });
  await expect(readFile(home.sessionFile)).rejects.toMatchObject({ code: 'ENOENT' });
  await world.signIn(home);
  expect(await home.ori(['whoami'])).toMatchObject({ exit: 0 });
});

// SPEC.md C3.
it('sends a token only to the address it is for', async () => {
  await using other = await startCliWorld();
  await using home = await world.newSignedIn();
  const elsewhere = await home.ori(['--base-url', other.baseUrl, ...SIGN]);
  expect(elsewhere).toMatchObject({ exit: 3, stdout: '' });
  expect(elsewhere.stderr).toContain(other.baseUrl);
  expect(other.requests).toEqual([]);
  expect(await home.ori(SIGN, { env: { ORI_BASE_URL: '' } })).toMatchObject({ exit: 0 });
});

it('uses the standalone if no address was ever given', async () => {
  await using home = await world.newHome({ ORI_BASE_URL: '' });
  const { stderr } = await home.ori(['login', '--oidc', '--no-browser', '--timeout', '1']);
  expect(stderr).toContain('Signing in to http://127.0.0.1:8080/v1');
});
