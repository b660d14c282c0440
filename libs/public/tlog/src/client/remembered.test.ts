import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { rememberInFile, rememberInMemory } from './remembered.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-remembered-'));
afterAll(() => rm(folder, { recursive: true }));

it.each([
  ['memory', rememberInMemory()],
  ['a file', rememberInFile(join(folder, 'one'))],
])('returns what was saved last in %s, and nothing before', async (_where, remembered) => {
  expect(await remembered.load()).toBeUndefined();
  await remembered.save('first, and longer');
  await remembered.save('second');
  expect(await remembered.load()).toBe('second');
});

it('leaves one file, which only its owner may read', async () => {
  await rememberInFile(join(folder, 'one')).save('text');
  expect(await readdir(folder)).toEqual(['one']);
  expect((await stat(join(folder, 'one'))).mode & 0o777).toBe(0o600);
});

it('keeps one whole text of several that are saved at once, and no draft', async () => {
  const path = join(folder, 'shared');
  const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(100_000));
  await Promise.all(texts.map((text) => rememberInFile(path).save(text)));
  expect(texts).toContain(await rememberInFile(path).load());
  expect((await readdir(folder)).filter((name) => name.startsWith('shared'))).toEqual(['shared']);
});

it('leaves no draft where it cannot save', async () => {
  const path = join(folder, 'occupied');
  await mkdir(path);
  await expect(rememberInFile(path).save('text')).rejects.toMatchObject({ code: 'EISDIR' });
  expect((await readdir(folder)).filter((name) => name.startsWith('occupied'))).toEqual(['occupied']);
});

it('takes no file that cannot be read for one that is absent', async () => {
  const path = join(folder, 'taken');
  await mkdir(path);
  await expect(rememberInFile(path).load()).rejects.toMatchObject({ code: 'EISDIR' });
});
