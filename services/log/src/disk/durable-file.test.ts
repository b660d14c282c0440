import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeFolder, replaceFile, syncFolder } from './durable-file.ts';
import { fileHandles, openOf, pathOf } from './file-handle.fixture.ts';

let place: string;
beforeEach(async () => {
  place = await realpath(await mkdtemp(join(tmpdir(), 'ori-durable-')));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(place, { recursive: true });
});

/** What `look` finds each time that a file or folder is synced. */
async function atEachSync(what: 'datasync' | 'sync', look: (path: string | undefined) => unknown) {
  const handles = await fileHandles();
  const real = handles[what];
  const found: unknown[] = [];
  vi.spyOn(handles, what).mockImplementation(async function (this: typeof handles) {
    found.push(await look(pathOf(this.fd)));
    return real.call(this);
  });
  return found;
}

it('replaces a file only once the new content is durable, and then makes its name durable', async () => {
  const path = join(place, 'file');
  await writeFile(path, 'old');
  const content = () => readFile(path, 'utf8');
  const beforeContent = await atEachSync('datasync', content);
  const beforeName = await atEachSync('sync', async (synced) => [synced, await content()]);
  await replaceFile(path, Buffer.from('new'));
  expect(beforeContent).toEqual(['old']);
  expect(beforeName).toEqual([[place, 'new']]);
  expect(await readdir(place)).toEqual(['file']);
  expect(openOf(place)).toEqual([]);
});

it('leaves the old file if the new content cannot be made durable, and replaces it the next time', async () => {
  const path = join(place, 'file');
  await writeFile(path, 'old');
  vi.spyOn(await fileHandles(), 'datasync').mockRejectedValueOnce(new Error('EIO'));
  await expect(replaceFile(path, 'new, and longer')).rejects.toThrow('EIO');
  expect(await readFile(path, 'utf8')).toBe('old');
  expect(openOf(place)).toEqual([]);
  await replaceFile(path, 'new');
  expect(await readFile(path, 'utf8')).toBe('new');
});

it('reports a folder that cannot be synced', async () => {
  vi.spyOn(await fileHandles(), 'sync').mockRejectedValueOnce(new Error('EIO'));
  await expect(syncFolder(place)).rejects.toThrow('EIO');
  expect(openOf(place)).toEqual([]);
});

it('syncs the folder of each folder that it makes, and no other', async () => {
  await mkdir(join(place, 'a'));
  const synced = await atEachSync('sync', (path) => path);
  await makeFolder(join(place, 'a/b/c'));
  expect(synced).toEqual([join(place, 'a/b'), join(place, 'a')]);
  await makeFolder(join(place, 'a/b/c'));
  expect(synced).toHaveLength(2);
});

it('makes a folder only if its parents can be synced, as far as this process may open them', async () => {
  const sync = vi.spyOn(await fileHandles(), 'sync');
  sync.mockRejectedValueOnce(Object.assign(new Error('lost'), { code: 'EIO' }));
  await expect(makeFolder(join(place, 'a/b'))).rejects.toThrow('lost');
  sync.mockRejectedValue(Object.assign(new Error('not mine'), { code: 'ERR_ACCESS_DENIED' }));
  await makeFolder(join(place, 'c/d'));
  expect(await readdir(join(place, 'c'))).toEqual(['d']);
});
