import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { INTERN_ID, useCliWorld } from './cli-world.ts';

const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const world = await useCliWorld();

it('keeps a session for each profile, and lists them', async () => {
  await using home = await world.newHome();
  expect(await home.ori(['profiles'])).toMatchObject({ exit: 0, stdout: '' });
  await world.signIn(home);
  await world.signIn(home, { user: 'grace', args: ['--profile', 'work'] });
  await writeFile(join(home.folder, '.config/ori/profiles/.DS_Store'), 'of a file manager');

  expect(await home.ori(CALL)).toMatchObject({ stdout: '{"user":"acct_ada"}' });
  expect(await home.ori([...CALL, '--profile', 'work'])).toMatchObject({ stdout: '{"user":"acct_grace"}' });
  expect(await home.ori(CALL, { env: { ORI_PROFILE: 'work' } })).toMatchObject({
    stdout: '{"user":"acct_grace"}',
  });
  const listed = await home.ori(['profiles', '--json'], { env: { ORI_PROFILE: 'work' } });
  expect(JSON.parse(listed.stdout)).toEqual([
    {
      name: 'default',
      in_use: false,
      kept_in: 'file',
      subject: 'acct_ada',
      base_url: world.baseUrl,
      state: 'signed in',
    },
    {
      name: 'work',
      in_use: true,
      kept_in: 'file',
      subject: 'acct_grace',
      base_url: world.baseUrl,
      state: 'signed in',
    },
  ]);

  expect(await home.ori(['logout', '--profile', 'work'])).toMatchObject({ exit: 0 });
  expect(await home.ori(['whoami', '--profile', 'work'])).toMatchObject({ exit: 3 });
  expect(await home.ori(['whoami'])).toMatchObject({ exit: 0 });
  await world.signIn(home, { user: 'grace', args: ['--profile', 'work'] });
  const all = await home.ori(['logout', '--all']);
  expect(all).toMatchObject({ exit: 0, stdout: expect.stringMatching(/ada[\s\S]*grace/) });
  expect(await home.ori(['profiles', '--json'])).toMatchObject({ stdout: '[]\n' });
});

it('takes names that differ only by case for one profile, as some disks do', async () => {
  await using home = await world.newHome();
  await world.signIn(home, { args: ['--profile', 'Default'] });
  await world.signIn(home, { user: 'grace', args: ['--profile', 'WORK'] });
  expect(await home.ori(CALL)).toMatchObject({ stdout: '{"user":"acct_ada"}' });
  expect(await home.ori([...CALL, '--profile', 'work'])).toMatchObject({ stdout: '{"user":"acct_grace"}' });
  expect(await readdir(join(home.folder, '.config', 'ori', 'profiles'))).toEqual(['work']);
});

it('uses a profile until another is named', async () => {
  await using home = await world.newSignedIn();
  expect(await home.ori(['profiles', 'use', 'nope'])).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining('ori --profile nope login'),
  });
  await world.signIn(home, { user: 'grace', args: ['--profile', 'work'] });
  expect(await home.ori(['profiles', 'use', 'work'])).toMatchObject({ exit: 0 });
  expect(await home.ori(CALL)).toMatchObject({ stdout: '{"user":"acct_grace"}' });
  expect(await home.ori([...CALL, '--profile', 'default'])).toMatchObject({ stdout: '{"user":"acct_ada"}' });
  expect(await home.ori(['profiles', 'use', 'default'])).toMatchObject({ exit: 0 });
  expect(await home.ori(CALL)).toMatchObject({ stdout: '{"user":"acct_ada"}' });
});

it('keeps the daemon of an intern for a profile and its API; --daemon and ORI_DAEMON_URL win', async () => {
  await using home = await world.newSignedIn({ ORI_DAEMON_URL: '' });
  const daemon = (...args: string[]) => home.ori(['profiles', 'daemon', INTERN_ID, ...args]);
  expect(await daemon(world.daemonUrl)).toMatchObject({ exit: 0 });
  expect(await daemon()).toMatchObject({ stdout: `${world.daemonUrl}\n` });
  expect(await home.ori(CALL)).toMatchObject({ stdout: '{"user":"acct_ada"}' });

  const nowhere = { ORI_DAEMON_URL: 'http://127.0.0.1:1' };
  expect(await home.ori(CALL, { env: nowhere })).toMatchObject({ exit: 6 });
  expect(await home.ori([...CALL, '--daemon', 'http://127.0.0.1:1'])).toMatchObject({ exit: 6 });
  expect(await daemon('http://daemon.example')).toMatchObject({ exit: 2 });
  expect(await daemon('--unset', world.daemonUrl)).toMatchObject({ exit: 2 });

  const file = join(home.folder, '.config/ori/trust.json');
  const kept = await readFile(file, 'utf8');
  await writeFile(file, kept.replace(world.baseUrl, 'https://api.example/v1'));
  expect(await home.ori(CALL)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('ori profiles daemon'),
  });
  await writeFile(file, '7');
  expect(await home.ori(CALL)).toMatchObject({ exit: 2, stderr: expect.stringContaining(file) });
  await writeFile(file, kept);
  expect(await home.ori(CALL)).toMatchObject({ exit: 0 });
  await world.signIn(home, { args: ['--profile', 'work'] });
  expect(await home.ori([...CALL, '--profile', 'work'])).toMatchObject({ exit: 2 });
  expect(await daemon('--unset')).toMatchObject({ exit: 0 });
  expect(await home.ori(CALL)).toMatchObject({ exit: 2 });
});

it('uses no other profile if it cannot tell which one is in use', async () => {
  await using home = await world.newSignedIn();
  const file = join(home.folder, '.config/ori/profile');
  await writeFile(file, '');
  expect(await home.ori(['whoami'])).toMatchObject({ exit: 2, stdout: '' });
  await rm(file);
  await writeFile(`${file}s`, '');
  const { stderr } = await home.ori(['profiles', '--json']);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'session_file_unusable' } });
  await mkdir(file);
  expect(await home.ori(['whoami'])).toMatchObject({ exit: 1, stdout: '' });
});

it.each(['../work', 'a/b', '.', '', 'x'.repeat(65)])('refuses a path as a profile: %j', async (profile) => {
  await using home = await world.newHome();
  const refused = await home.ori(['login', '--profile', profile]);
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(await readdir(home.folder)).not.toContain(dirname('.config/ori'));
});
