import { describe, expect, it } from 'vitest';
import { type Hash, inclusionProof, leafHash, rootOf, verifyInclusion } from './merkle.ts';
import { bundled, readEntries, readTile, subtreesOf, tilePath, tilesFor } from './tile.ts';
import { digest, entryOf, mth } from './tree.fixture.ts';
import { type MadeTile, openTree, parseEdge, renderEdge } from './tree.ts';

const idOf = ({ level, index, width }: MadeTile) => [level, index, width];

/** A tree of the first `size` entries, and all of its tiles by path. */
function grown(size: number) {
  const tree = openTree();
  const tiles = new Map<string, MadeTile>();
  for (let index = 0; index < size; index++)
    for (const tile of tree.append(entryOf(index))) tiles.set(tilePath(tile), tile);
  for (const tile of tree.partial()) tiles.set(tilePath(tile), tile);
  const hashes = subtreesOf((level, index) => {
    const made = [...tiles.values()].find((tile) => tile.level === level && tile.index === index);
    return readTile(made?.bytes ?? Buffer.alloc(0), made?.width ?? 0);
  });
  return { tree, tiles, hashes };
}

describe('a tree that grows', () => {
  it.each([0, 1, 2, 3, 255, 256, 257, 511, 512, 513, 600])(
    'has the root of its %d leaves, as have its tiles, and the entries in its bundles',
    (size) => {
      const { tree, tiles, hashes } = grown(size);
      expect(tree.size).toBe(size);
      expect(Buffer.from(tree.root())).toEqual(mth(0, size));
      expect(Buffer.from(rootOf(size, hashes))).toEqual(mth(0, size));
      const bundles = [...tiles.values()].filter(({ level }) => level === 'entries');
      const entries = bundles.flatMap(({ bytes }) => readEntries(bytes));
      expect(entries).toEqual(Array.from({ length: size }, (_, index) => entryOf(index)));
    },
  );
  it('is made of the tiles of tlog-tiles', () => {
    const full = [0, 1].flatMap((index) => [`tile/entries/00${index}`, `tile/0/00${index}`]);
    const partial = ['tile/entries/002.p/88', 'tile/0/002.p/88', 'tile/1/000.p/2'];
    expect([...grown(600).tiles.keys()]).toEqual([...full, ...partial]);
    expect([...grown(512).tiles.keys()]).toEqual([...full, 'tile/1/000.p/2']);
  });
  it('proves each leaf with the tiles along its path, and none beside them', () => {
    const { tiles, hashes } = grown(600);
    for (const index of [0, 255, 256, 511, 512, 599]) {
      const proof = inclusionProof(index, 600, hashes);
      const head = { index, size: 600, root: mth(0, 600) };
      expect(verifyInclusion(head, leafHash(entryOf(index)), proof)).toBe(true);
      const needed = tilesFor(600, (subtrees) => inclusionProof(index, 600, subtrees)).map(tilePath);
      for (const path of needed) expect(tiles.keys()).toContain(path);
    }
    const edge = tilesFor(600, (subtrees) => rootOf(600, subtrees)).map(tilePath);
    expect(edge).toEqual(['tile/1/000.p/2', 'tile/0/002.p/88']);
    const far = tilesFor(2 ** 17, (subtrees) => [subtrees(8, 256), subtrees(9, 128), subtrees(7, 3)]);
    expect(far.map(tilePath)).toEqual(['tile/1/001', 'tile/0/001']);
  });
  it('fills tiles of several levels with one leaf', () => {
    const [entry, hash] = [bundled(Buffer.from('old')), Buffer.alloc(32, 1)];
    const row = Array<Hash>(255).fill(hash);
    const tree = openTree({ size: 2 ** 17 - 1, entries: Array(255).fill(entry), levels: [row, row, [hash]] });
    const made = tree.append(Buffer.from('new'));
    expect(made.map(idOf)).toEqual([
      ['entries', 511, 256],
      [0, 511, 256],
      [1, 1, 256],
    ]);
    expect(made.map(({ bytes }) => bytes.length)).toEqual([256 * 5, 8192, 8192]);
    expect(tree.partial().map(idOf)).toEqual([[2, 0, 2]]);
    const top = tree.partial()[0]?.bytes ?? Buffer.alloc(0);
    expect(Buffer.from(tree.root())).toEqual(digest('\x01', top));
    for (let more = 0; more < 300; more++) tree.append(Buffer.from('new'));
    expect(tree.partial().map(idOf)).toEqual([
      ['entries', 513, 44],
      [0, 513, 44],
      [1, 2, 1],
      [2, 0, 2],
    ]);
  });
});

describe('the edge of a tree', () => {
  it.each([0, 1, 255, 256, 300, 513])('of %d leaves is enough to continue it, also out of a file', (size) => {
    const { tree } = grown(size);
    const edge = tree.edge();
    expect(renderEdge(parseEdge(renderEdge(edge)))).toBe(renderEdge(edge));
    for (const again of [openTree(edge), openTree(parseEdge(renderEdge(edge)))]) {
      expect([again.size, again.root(), again.partial()]).toEqual([size, tree.root(), tree.partial()]);
      for (let index = size; index < 600; index++) again.append(entryOf(index));
      expect(Buffer.from(again.root())).toEqual(mth(0, 600));
    }
  });
  it('is a copy', () => {
    const { tree } = grown(300);
    const edge = tree.edge();
    const text = renderEdge(edge);
    tree.append(entryOf(300));
    openTree(edge).append(entryOf(300));
    expect(renderEdge(edge)).toBe(text);
  });
});
