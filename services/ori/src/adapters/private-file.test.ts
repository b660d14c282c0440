import { promises } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-private-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it('writes into a file that cannot be replaced, as one that is mounted into a container', async () => {
  const file = join(await newFolder(), 'session.json');
  await writePrivateFile(file, 'a longer text');
  const { ino } = await stat(file);
  const busy = Object.assign(new Error('EBUSY: resource busy or locked'), { code: 'EBUSY' });
  const rename = vi.spyOn(promises, 'rename').mockRejectedValueOnce(busy);
  syncBuiltinESMExports();
  await writePrivateFile(file, 'a text');
  rename.mockRestore();
  syncBuiltinESMExports();
  expect(await readFile(file, 'utf8')).toBe('a text');
  expect((await stat(file)).ino).toBe(ino);
  expect(await readdir(dirname(file))).toEqual(['session.json']);
});

it('reads and writes in a folder that a link leads to, if that is private', async () => {
  const folder = await newFolder();
  const link = `${folder}.link`;
  await symlink(folder, link);
  onTestFinished(() => rm(link));
  await writePrivateFile(join(link, 'session.json'), 'text');
  expect(await readPrivateFile(join(link, 'session.json'), false)).toBe('text');
});
