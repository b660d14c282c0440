import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fileHandles } from './file-handle.fixture.ts';
import { openGuard } from './guard.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-guard-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const head = (size: number) => ({ size, root: Buffer.alloc(32, size) });

it('has no record at first, and the one saved last after a restart', async () => {
  const guard = await openGuard(join(folder, 'new/guard'));
  expect(guard.head).toBeUndefined();
  for (const size of [1, 2]) {
    await guard.save(head(size));
    expect(guard.head).toEqual(head(size));
  }
  expect((await openGuard(join(folder, 'new/guard'))).head).toEqual(head(2));
});

it('keeps the former record if the next cannot be made durable', async () => {
  const guard = await openGuard(folder);
  await guard.save(head(1));
  vi.spyOn(await fileHandles(), 'datasync').mockRejectedValueOnce(new Error('EIO'));
  await expect(guard.save(head(2))).rejects.toThrow('EIO');
  expect(guard.head).toEqual(head(1));
});

it.each([
  ['is damaged', () => writeFile(join(folder, 'signed.json'), '{"size":')],
  ['cannot be read', () => mkdir(join(folder, 'signed.json'))],
])('does not take a record that %s for none', async (_what, make) => {
  await make();
  await expect(openGuard(folder)).rejects.toThrow();
});
