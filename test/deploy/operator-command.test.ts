import { execFile } from 'node:child_process';
import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openRoom } from '../env/room.ts';
import { ROOT } from './root.ts';

const run = promisify(execFile);

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
