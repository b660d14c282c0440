import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootOf } from '@ori/tlog/merkle';
import { tilePath } from '@ori/tlog/tile';
import { type MadeTile, openTree } from '@ori/tlog/tree';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fileHandles, openOf, pathOf } from './file-handle.fixture.ts';
import { openTileFiles } from './tile-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'ori-tiles-')));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const entry = (at: number) => {
  const bytes = Buffer.alloc(97, at);
  bytes.writeUInt32BE(at, 1);
  return bytes;
};
const tile = (index: number, width = 256, level: MadeTile['level'] = 0, fill = 1): MadeTile => ({
  level,
  index,
  width,
  bytes: Buffer.alloc(width * 32, fill),
});
const pathIn = (id: MadeTile) => join(folder, tilePath(id));

it('reads what it wrote, also after a restart, and nothing that it did not', async () => {
  const written = [tile(0), tile(1, 7), tile(0, 3, 'entries', 2)];
  await (await openTileFiles(folder)).write(written);
  const files = await openTileFiles(folder);
  for (const one of written) expect(await files.read(one)).toEqual(one.bytes);
  expect(await files.read(tile(1, 6))).toBeUndefined();
  expect(openOf(folder)).toEqual([]);
});

it('does not take a tile that cannot be read for one that is not there', async () => {
  const files = await openTileFiles(folder);
  await mkdir(pathIn(tile(0)), { recursive: true });
  await expect(files.read(tile(0))).rejects.toMatchObject({ code: 'EISDIR' });
});

it('writes a tile again if its file differs, and only then', async () => {
  const files = await openTileFiles(folder);
  await files.write([tile(0)]);
  const { ino } = await stat(pathIn(tile(0)));
  await files.write([tile(0)]);
  expect((await stat(pathIn(tile(0)))).ino).toBe(ino);
  await writeFile(pathIn(tile(0)), 'altered');
  await files.write([tile(0)]);
  expect(await files.read(tile(0))).toEqual(tile(0).bytes);
});

it('a tile has its name only once it is durable, and a tile that failed is written the next time', async () => {
  const files = await openTileFiles(folder);
  vi.spyOn(await fileHandles(), 'datasync').mockRejectedValueOnce(new Error('EIO'));
  await expect(files.write([tile(0)])).rejects.toThrow('EIO');
  expect(existsSync(pathIn(tile(0)))).toBe(false);
  expect(openOf(folder)).toEqual([]);
  await files.write([tile(0)]);
  expect(await files.read(tile(0))).toEqual(tile(0).bytes);
});

it('makes each new name durable, up to the folder that had none', async () => {
  const files = await openTileFiles(folder);
  const handles = await fileHandles();
  const synced: (string | undefined)[] = [];
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: typeof handles) {
    synced.push(pathOf(this.fd)?.slice(folder.length));
  });
  await files.write([tile(0, 5)]);
  expect(synced.splice(0)).toEqual(['/tile/0', '/tile', '', '/tile/0/000.p']);
  await files.write([tile(0, 1, 1)]);
  expect(synced.splice(0)).toEqual(['/tile/1', '/tile', '/tile/1/000.p']);
  await files.write([tile(0, 5)]);
  expect(synced).toEqual([]);
});

it('removes the partial tiles before a full one, and keeps those of the full one', async () => {
  const files = await openTileFiles(folder);
  const [first, second, other] = [tile(0, 5), tile(1, 5), tile(0, 5, 1)];
  await files.write([first, second, other, tile(0)]);
  expect(existsSync(pathIn(first))).toBe(true);
  await files.write([tile(2, 5)]);
  expect(existsSync(pathIn(second))).toBe(true);
  await files.write([tile(1)]);
  expect([first, second, other].map((one) => existsSync(pathIn(one)))).toEqual([false, true, true]);
});

const SIGNED = [1, 3, 255, 256, 257, 512, 600];

it('has the subtrees of each tree that was signed, also where its last tile is full by now', async () => {
  const files = await openTileFiles(folder);
  const tree = openTree();
  const roots: Uint8Array[] = [tree.root()];
  for (let at = 0; at < 600; at++) {
    await files.write(tree.append(entry(at)));
    roots.push(tree.root());
    // Each tree that is signed has its partial tiles on the disk.
    if (SIGNED.includes(tree.size)) await files.write(tree.partial());
  }
  for (const size of SIGNED)
    expect(Buffer.from(rootOf(size, files.subtrees(size)))).toEqual(Buffer.from(roots[size] ?? []));
});

it('has no subtrees of a tile that is missing or too short', async () => {
  const files = await openTileFiles(folder);
  expect(() => rootOf(3, files.subtrees(3))).toThrow();
  await files.write([tile(0, 3)]);
  await writeFile(pathIn(tile(0, 3)), (await readFile(pathIn(tile(0, 3)))).subarray(32));
  expect(() => rootOf(3, files.subtrees(3))).toThrow();
});
