import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateKekRing } from '@ori/store/sealing';
import { expect, test } from 'vitest';
import { shippedFolder } from '../env/programs.ts';
import { openRoom } from '../env/room.ts';
import { ROOT } from './root.ts';

const run = promisify(execFile);

test('systemd: ori-admin runs the installed program with the secrets and settings of the services', async () => {
  await using room = await openRoom('ori-operator');
  const [etc, opt] = [join(room.directory, 'etc'), join(room.directory, 'opt')];
  await mkdir(join(etc, 'secrets'), { recursive: true });
  await mkdir(opt);
  await symlink(join(process.execPath, '../..'), join(opt, 'node'));
  await cp(join(await shippedFolder(), 'admin'), join(opt, 'admin'), { recursive: true });
  await cp(join(ROOT, 'deploy/systemd/examples/admin.env'), join(etc, 'admin.env'));
  await writeFile(join(etc, 'secrets/signer-kek.json'), generateKekRing('signer'), { mode: 0o600 });
  const script = await readFile(join(ROOT, 'deploy/systemd/ori-admin'), 'utf8');
  const command = join(room.directory, 'ori-admin');
  await writeFile(command, script.replaceAll('/etc/ori', etc).replaceAll('/opt/ori', opt), { mode: 0o755 });
  const env = { PATH: process.env['PATH'] };
  const { stdout } = await run(command, ['kek', 'list', 'signer', '--json'], { env });
  expect(JSON.parse(stdout).data).toHaveLength(1);
  // An operator's login, not the owner's.
  const failure = await run(command, ['org', 'list'], { env }).catch(({ stderr }) => stderr);
  expect(failure).toContain(join(etc, 'secrets/operator-url'));
});

test('Compose: ori-admin runs the service admin of the file beside it, on the files of the caller’s folder', async () => {
  await using room = await openRoom('ori-operator');
  const folder = room.directory;
  await writeFile(join(folder, 'docker'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  await chmod(join(folder, 'docker'), 0o755);
  // As on the PATH: a link.
  await symlink(join(ROOT, 'deploy/docker/ori-admin'), join(folder, 'ori-admin'));
  const { stdout } = await run(join(folder, 'ori-admin'), ['org', 'create', 'Analytical Engines'], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env['PATH']}` },
  });
  const words = stdout.trimEnd().split('\n');
  expect(words.slice(0, 4)).toEqual(['compose', '--file', join(ROOT, 'deploy/docker/compose.yaml'), 'run']);
  expect(words).toContain(`${folder}:${folder}`);
  // Input or output that is no terminal.
  expect(words).toContain('--no-TTY');
  expect(words.slice(-4)).toEqual(['admin', 'org', 'create', 'Analytical Engines']);
});
