import { lstat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { walkThrough } from '../../services/standalone/src/person.ts';
import { findProgram } from '../env/room.ts';
import type { OriResult } from './cli-process.ts';
import { INTERN_ID, useCliWorld } from './cli-world.ts';

const world = await useCliWorld();

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
