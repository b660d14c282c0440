import { expect, it } from 'vitest';
import { parseCheckpoint } from './checkpoint.ts';
import { entryOfLine, parseEntry, renderEntry } from './entry.ts';
import { nodeHash } from './merkle.ts';
import { bundled, parseTilePath, readEntries, readTile, tilePath, tileWidth } from './tile.ts';

const ROOT = Buffer.alloc(32, 9).toString('base64');
const malformed = expect.objectContaining({ code: 'malformed' });

it.each([
  `\n7\n${ROOT}\n`,
  `log\n07\n${ROOT}\n`,
  'log\n7\nAAAA\n',
  'log\n7\nA\n',
  `log\n7\n${ROOT}\n\n`,
  'log\n7\n',
  `log\n-1\n${ROOT}\n`,
])('%j is not a checkpoint', (text) => expect(() => parseCheckpoint(text)).toThrow(malformed));

it('names tiles of every level and width, in one spelling', () => {
  for (const path of [
    'tile/63/000',
    'tile/19/000',
    'tile/0/x001/x234/067.p/255',
    'tile/entries/999',
    'tile/1/000.p/100',
  ]) {
    const tile = parseTilePath(path);
    expect(tile && tilePath(tile)).toBe(path);
  }
  for (const path of ['tile/64/000', 'tile/0/000.p/256', 'tile/0/000.p/0', 'tile/0/x000/001', 'tile/00/000'])
    expect(parseTilePath(path)).toBeUndefined();
  const widths = [tileWidth(0, 0, 300), tileWidth(0, 1, 300), tileWidth(0, 5, 300), tileWidth(1, 0, 300)];
  expect([...widths, tileWidth('entries', 1, 300)]).toEqual([256, 44, 0, 1, 44]);
});

it('reads as many hashes of a tile as it has, and none beyond', () => {
  const hash = Buffer.alloc(32, 1);
  const tile = readTile(Buffer.concat([hash, hash, hash]), 3);
  expect(tile.node(0, 2)).toEqual(hash);
  expect(tile.node(1, 0)).toEqual(nodeHash(hash, hash));
  for (const [height, index] of [
    [0, 3],
    [1, 1],
    [2, 0],
  ] as const)
    expect(() => tile.node(height, index)).toThrow(malformed);
  for (const length of [0, 31, 33, 64]) expect(() => readTile(Buffer.alloc(length), 1)).toThrow(malformed);
});

it('bundles entries of any length, and reads no half of one, and no more than 256', () => {
  const entries = [1, 255, 256, 300, 0].map((length) => Buffer.alloc(length, length));
  const bundle = Buffer.concat(entries.map(bundled));
  expect(readEntries(bundle)).toEqual(entries);
  expect(() => readEntries(bundle.subarray(0, -1))).toThrow(malformed);
  expect(() => readEntries(Buffer.concat([bundle, Buffer.alloc(1)]))).toThrow(malformed);
  expect(readEntries(Buffer.alloc(2 * 256))).toHaveLength(256);
  expect(() => readEntries(Buffer.alloc(2 * 257))).toThrow(malformed);
});

it('the line of a key becomes an entry of kind 2, unless it names no key', () => {
  const x = Buffer.alloc(32, 5);
  const line = (facts: object) =>
    Buffer.from(JSON.stringify({ event: 'key_published', internId: 'int_1', ...facts }));
  const made = entryOfLine(line({ x: x.toString('base64url') }));
  expect(made).toMatchObject({ of: 'key', kind: 'key', publicKey: x });
  expect(renderEntry(made)).toHaveLength(97);
  expect(parseEntry(renderEntry(made))).toMatchObject({ kind: 'key', publicKey: new Uint8Array(x) });
  for (const facts of [{}, { x: 'AAAA' }, { x: x.toString('base64url'), internId: '' }])
    expect(entryOfLine(line(facts))).toMatchObject({ of: 'nothing', kind: 'proof' });
  expect(() => parseEntry(Buffer.concat([Uint8Array.of(3), Buffer.alloc(96)]))).toThrow(malformed);
  expect(() => parseEntry(Buffer.concat([Uint8Array.of(2), Buffer.alloc(95)]))).toThrow(malformed);
});
