import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderEntry } from '@ori/tlog/entry';
import { rootOf } from '@ori/tlog/merkle';
import { openTree } from '@ori/tlog/tree';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTileFiles } from './tile-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-tiles-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('has the subtrees of a smaller tree whose last tile is full by now', async () => {
  const files = await openTileFiles(folder);
  const tree = openTree();
  const roots: Uint8Array[] = [tree.root()];
  for (let at = 0; at < 256; at++) {
    const [v1, v2, line] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte * (at + 1))) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    await files.write(tree.append(renderEntry({ kind: 'proof', v1, v2, line })));
    roots.push(tree.root());
  }
  for (const size of [1, 3, 255])
    expect(Buffer.from(rootOf(size, files.subtrees(size)))).toEqual(Buffer.from(roots[size] ?? []));
});
