import { lstat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { walkThrough } from '../../services/standalone/src/person.ts';
import { findProgram } from '../env/room.ts';
import type { OriResult } from './cli-process.ts';
import { INTERN_ID, useCliWorld } from './cli-world.ts';

const world = await useCliWorld();

it('signs in, shows who is signed in, calls a daemon, and signs out', async () => {
  await using home = await world.newHome();
  const signedIn = await world.signIn(home);
  expect(signedIn).toMatchObject({ exit: 0, stdout: 'Signed in as acct_ada (ada).\n' });
  expect(signedIn.page.status).toBe(200);
  expect(signedIn.pageText).toContain('You are signed in');

  const who = await home.ori(['whoami']);
  expect(who).toMatchObject({ exit: 0, stderr: '' });
  expect(who.stdout).toContain('acct_ada (ada)');
  expect(who.stdout).toContain(world.baseUrl);
  expect(JSON.parse((await home.ori(['whoami', '--json'])).stdout)).toEqual({
    subject: 'acct_ada',
    name: 'ada',
    base_url: world.baseUrl,
    issuer: world.issuer,
    client_id: 'ori-cli',
    scope: expect.arrayContaining(['vault:read', 'interns']),
    can_sign: true,
    renewable: true,
    expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    signed_in_at: expect.stringMatching(/^\d{4}-.*Z$/),
    profile: 'default',
    bound: true,
    kept_in: 'file',
  });

  const called = await home.ori(['call', INTERN_ID, '/api/invoke', '--data', '{"prompt":"hello"}']);
  expect(called).toEqual({ exit: 0, stdout: '{"user":"acct_ada"}', stderr: '' });
  const wrapped = await home.ori(['--json', 'call', INTERN_ID, '/api/invoke'], { stdin: '{}' });
  expect(JSON.parse(wrapped.stdout)).toEqual({
    status: 200,
    media_type: 'application/json',
    body: { user: 'acct_ada' },
  });

  expect(await home.ori(['logout'])).toEqual({ exit: 0, stdout: 'Signed out acct_ada (ada).\n', stderr: '' });
  expect(await home.ori(['whoami'])).toMatchObject({ exit: 3, stdout: '' });
  expect(await home.ori(['logout'])).toMatchObject({ exit: 0, stdout: 'Nobody was signed in.\n' });
});

// SPEC.md C1.
it('signs the same digest from a file, from stdin, from text and from its hex', async () => {
  await using home = await world.newSignedIn();
  const file = join(home.folder, 'body');
  await writeFile(file, 'hello');
  const digest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
  world.requests.length = 0;
  const sign = ['sign', INTERN_ID, '--path', '/api/invoke', '--json'];
  for (const [args, stdin] of [
    [['--file', file], ''],
    [['--file', '-'], 'hello'],
    [[], 'hello'],
    [['--data', 'hello'], ''],
    [['--body-sha256', digest], ''],
  ] as const) {
    const signed = await home.ori([...sign, ...args], { stdin });
    expect(Object.keys(JSON.parse(signed.stdout))).toHaveLength(5);
  }
  const route = { method: 'POST', path: '/api/invoke' };
  expect(world.requests.map(({ body }) => JSON.parse(body))).toEqual(
    Array.from({ length: 5 }, () => ({ bodySha256: digest, route })),
  );
});

it('stores nothing when the person denies, and the page says so', async () => {
  await using home = await world.newHome();
  const denied = await world.signIn(home, { decision: 'deny' });
  expect(denied).toMatchObject({ exit: 4, stdout: '' });
  expect(denied.stderr).toContain('denied');
  expect(denied.pageText).toContain('denied');
  await expect(lstat(home.sessionFile)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('asks for PKCE, state, nonce, the resource and its scopes', async () => {
  await using home = await world.newHome();
  const login = home.begin(['login', '--oidc', '--no-browser', '--scope', 'interns']);
  const [, shown = ''] = await login.told(/sign in:\n {2}(\S+)\n/);
  const { searchParams, origin } = new URL(shown);
  expect(origin).toBe(world.issuer);
  expect(Object.fromEntries(searchParams)).toEqual({
    response_type: 'code',
    client_id: 'ori-cli',
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    scope: 'openid offline_access interns',
    resource: world.baseUrl,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    prompt: 'consent',
  });
  await fetch(String(await walkThrough(new URL(shown), { user: 'ada' })));
  const { stderr } = await login.result;
  expect(stderr).toContain('cannot sign');
});

it('gives up a sign-in that nobody finishes', async () => {
  await using home = await world.newHome();
  const login = await home.ori(['login', '--oidc', '--no-browser', '--timeout', '1']);
  expect(login).toMatchObject({ exit: 6, stdout: '' });
  expect(login.stderr).toContain('--device');
});

it('never prints a token, with any option', async () => {
  await using home = await world.newHome({ ORI_CLIENT_ID: 'ori-cli-opaque' });
  const said: OriResult[] = [await world.signIn(home, { args: ['--verbose'] })];
  const { access_token: access, refresh_token: refresh } = await home.session();
  for (const args of [
    ['whoami', '--json', '--verbose'],
    ['call', INTERN_ID, '/api/invoke', '--data', '{}', '--verbose'],
    ['interns', 'list', '--verbose'],
    ['logout', '--verbose', '--json'],
  ]) {
    said.push(await home.ori(args));
  }
  const all = said.map(({ stdout, stderr }) => stdout + stderr).join('');
  expect(all).not.toContain(access);
  expect(all).not.toContain(refresh);
  expect(all).toContain('x-ori-invoke-signature-v2');
});

it.skipIf(findProgram('jq') === undefined)('prints what jq makes of an answer, or what jq says', async () => {
  await using home = await world.newSignedIn();
  const intern = (id: string) => ({ id, name: id, status: 'running', hostname: null, model: null });
  const list = { status: 200, body: { data: [intern('int_1'), intern('int_2')], has_more: false } };
  world.scripted.push(list, list);
  const names = await home.ori(['api', 'interns', '--paginate', '--jq', '.[].name']);
  expect([names.exit, names.stdout]).toEqual([0, 'int_1\nint_2\n']);
  const wrong = await home.ori(['api', 'interns', '--jq', '.data[']);
  expect([wrong.exit, wrong.stdout, wrong.stderr]).toEqual([
    2,
    '',
    expect.stringMatching(/jq: error: syntax error/),
  ]);
  expect(await home.ori(['api', 'interns', '-i', '--jq', '.'])).toMatchObject({ exit: 2, stdout: '' });
});

it('prints a token, and the headers of a request with that', async () => {
  await using home = await world.newSignedIn();
  const headers = async () => (await home.ori(['headers', 'GET', `${world.baseUrl}/interns`])).stdout;
  const { stdout: token } = await home.ori(['token']);
  expect(await headers()).toContain(token);
});
