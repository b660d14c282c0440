import { lstat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { signIn } from '../../services/standalone/src/sign-in.ts';
import { INTERN_ID, useCliWorld } from './cli-world.ts';

const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const world = await useCliWorld();
const { accessToken: token } = await signIn({
  issuer: world.issuer,
  clientId: 'ori-cli',
  resource: world.baseUrl,
  user: 'ada',
  scope: 'openid vault:read',
});

it('signs with the token of ORI_TOKEN, and stores nothing', async () => {
  await using home = await world.newHome({ ORI_TOKEN: token });
  expect(await home.ori(CALL)).toMatchObject({ exit: 0, stdout: '{"user":"acct_ada"}' });
  const who = JSON.parse((await home.ori(['whoami', '--json'])).stdout);
  expect(who).toMatchObject({ subject: 'acct_ada', kept_in: 'ORI_TOKEN', renewable: false });
  await expect(lstat(home.sessionFile)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('prefers ORI_TOKEN to the stored session', async () => {
  await using home = await world.newHome();
  await world.signIn(home, { user: 'grace' });
  expect(await home.ori(CALL, { env: { ORI_TOKEN: token } })).toMatchObject({
    stdout: '{"user":"acct_ada"}',
  });
  expect(await home.ori(CALL)).toMatchObject({ stdout: '{"user":"acct_grace"}' });
});

it.each([
  ['is refused', 'e30.e30.c2ln', 3, 'token_refused'],
  ['would not fit into a header', 'two words', 2, 'token_unusable'],
])('reports a given token that %s, and never shows it', async (_what, bad, exit, code) => {
  await using home = await world.newHome();
  const used = await home.ori([...CALL, '--json', '--verbose'], { env: { ORI_TOKEN: bad } });
  const stored = await home.ori(['login', '--with-token', '--json'], { stdin: bad });
  for (const run of [used, stored]) {
    expect(run).toMatchObject({ exit, stdout: '' });
    expect(JSON.parse(run.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ error: { code } });
    expect(run.stderr).not.toContain(bad);
  }
  await expect(lstat(home.sessionFile)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('keeps a token from stdin as the session, until it expires or the user signs out', async () => {
  await using home = await world.newHome();
  const login = await home.ori(['login', '--with-token'], { stdin: `${token}\n` });
  expect(login).toMatchObject({ exit: 0, stdout: 'Signed in as acct_ada.\n' });
  expect(await home.ori(CALL)).toMatchObject({ exit: 0 });
  expect(await home.ori(['logout'])).toMatchObject({ exit: 0 });
  expect(await home.ori(CALL)).toMatchObject({ exit: 3 });
  expect(await home.ori(CALL, { env: { ORI_TOKEN: token } })).toMatchObject({ exit: 0 });
});
