import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packCommand } from '../../deploy/package/pack.ts';
import { deadLinksOf } from '../package/dead-links.ts';

const run = promisify(execFile);
let folder: string;
let tarball: string;
let ori: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-install-'));
  // Without the keychain library, which would come from the registry.
  const install = ['install', '--global', '--prefix', join(folder, 'prefix'), '--offline', '--omit=optional'];
  tarball = await packCommand(folder);
  await run('npm', [...install, '--no-audit', '--no-fund', tarball], { cwd: folder });
  ori = join(folder, 'prefix/bin/ori');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function runOri(...args: string[]): Promise<{ exit: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], HOME: folder };
  try {
    return { exit: 0, ...(await run(ori, args, { cwd: folder, env })) };
  } catch (error) {
    const { code: exit, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exit, stdout, stderr };
  }
}

it('runs from its tarball in an empty folder, without any other package', async () => {
  expect(await runOri('--version')).toEqual({ exit: 0, stdout: '1.0.0\n', stderr: '' });
  expect((await run(`${ori}-proof`, ['--version'])).stdout).toBe('1.0.0\n');
  expect(await runOri('whoami')).toMatchObject({ exit: 3, stdout: '' });
  expect(await runOri('interns', 'list', '--json')).toMatchObject({ exit: 3, stdout: '' });
});

it('contains a README without dead links', async () => {
  expect(await deadLinksOf(tarball)).toEqual([]);
});

it('says on an older Node which version it needs, even in a checkout that has it', async () => {
  const modules = new URL('../../node_modules', import.meta.url);
  await symlink(modules, join(folder, 'node_modules'));
  for (const version of ['20.19.0', '24.14.1']) {
    const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`;
    const failure = await run(process.execPath, ['--import', old, ori, '--version']).catch((error) => error);
    expect(failure).toMatchObject({ code: 1, stdout: '' });
    expect(failure.stderr).toContain(`needs Node 24.15 or newer, and this is Node ${version}`);
  }
});

const own = spawnSync('/usr/bin/node', ['--version'], { encoding: 'utf8' }).stdout ?? '';

it.runIf(/^v2[0-3]/.test(own))('says so to a Node that really lacks what it imports', async () => {
  const failure = await run('/usr/bin/node', [ori, '--version']).catch((error) => error);
  expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining('needs Node 24.15 or newer') });
});
