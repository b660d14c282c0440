import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSigningKey } from '@ori/proof/signing';
import { renderCheckpoint } from '@ori/tlog/checkpoint';
import { cosign } from '@ori/tlog/cosignature';
import {
  consistencyProof,
  type Hash,
  inclusionProof,
  leafHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from '@ori/tlog/merkle';
import { createMlDsaKey } from '@ori/tlog/ml-dsa';
import { NOTE_TYPES, noteKey, renderNote, renderVkey, signNote } from '@ori/tlog/note';
import { renderTlogProof } from '@ori/tlog/proof';
import { readTile, subtreesOf, type Tile, tilePath } from '@ori/tlog/tile';
import { type MadeTile, openTree } from '@ori/tlog/tree';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askGo, noGo, type Question } from './go-verifier.ts';

if (noGo) console.warn(`skipped: ${noGo}`);

const SIZE = 70_000;
const ORIGIN = 'log.example/log';
const key = createSigningKey(createHash('sha256').update('interoperability').digest());
const vkey = renderVkey(noteKey(ORIGIN, NOTE_TYPES.ed25519, key.publicKey));

/** Sizes around every tile boundary, at both levels, and a few in between. */
const SIZES = [
  ...Array.from({ length: 20 }, (_, index) => index + 1),
  ...Array.from({ length: 273 }, (_, tile) => [-1, 0, 1].map((by) => (tile + 1) * 256 + by)).flat(),
  ...[1000, 4097, 32_768, 65_535, 65_536, 65_537, 69_999, SIZE],
].filter((size) => size <= SIZE);

const entryOf = (index: number) => createHash('sha256').update(`entry ${index}`).digest();

let folder: string;
/** All full and partial tiles of the largest tree. */
const tiles = new Map<string, Tile>();
const subtrees = subtreesOf((level, index) => tiles.get(`${level}/${index}`) as Tile);
const roots = new Map<number, Hash>();

async function save(made: readonly MadeTile[]): Promise<void> {
  for (const tile of made) {
    const path = join(folder, tilePath(tile));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, tile.bytes);
    if (tile.level !== 'entries') tiles.set(`${tile.level}/${tile.index}`, readTile(tile.bytes, tile.width));
  }
}

beforeAll(async () => {
  if (noGo) return;
  folder = await mkdtemp(join(tmpdir(), 'ori-interoperability-'));
  const tree = openTree();
  const wanted = new Set(SIZES);
  for (let index = 0; index < SIZE; index++) {
    await save(tree.append(entryOf(index)));
    if (!wanted.has(tree.size)) continue;
    await save(tree.partial());
    roots.set(tree.size, tree.root());
  }
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

function noteOf(size: number, root: Hash): string {
  const text = renderCheckpoint({ origin: ORIGIN, size, root });
  // Go ignores a cosignature by an unknown key, and one with ML-DSA-44.
  const witness = createSigningKey(createHash('sha256').update('witness').digest());
  return renderNote({
    text,
    signatures: [
      signNote(text, ORIGIN, key),
      cosign(text, 1_789_000_000, 'witness.example', witness),
      cosign(text, 0, ORIGIN, createMlDsaKey(createHash('sha256').update('ML-DSA-44').digest())),
    ],
  });
}

const rootAt = (size: number) => roots.get(size) as Hash;
const bytes = (hashes: readonly Hash[]) => hashes.map((hash) => Buffer.from(hash));

function inclusion(index: number, size: number): Question {
  const path = inclusionProof(index, size, subtrees);
  expect(verifyInclusion({ index, size, root: rootAt(size) }, leafHash(entryOf(index)), path)).toBe(true);
  const leaf = Buffer.from(leafHash(entryOf(index)));
  return { kind: 'inclusion', vkey, note: noteOf(size, rootAt(size)), index, leaf, path: bytes(path) };
}

function consistency(old: number, size: number): Question {
  const path = consistencyProof(old, size, subtrees);
  const first = { size: old, root: rootAt(old) };
  expect(verifyConsistency(first, { size, root: rootAt(size) }, path)).toBe(true);
  return {
    kind: 'consistency',
    vkey,
    note: noteOf(size, rootAt(size)),
    old,
    oldSum: Buffer.from(rootAt(old)),
    path: bytes(path),
  };
}

function proofFile(index: number, size: number): Question {
  const note = renderTlogProof({
    extra: entryOf(index),
    index,
    path: inclusionProof(index, size, subtrees),
    note: noteOf(size, rootAt(size)),
  });
  return { kind: 'proof', vkey, note, leaf: entryOf(index) };
}

test.skipIf(noGo !== undefined)(
  'Go verifies checkpoints, tiles, inclusion and consistency around every tile boundary up to 70,000 leaves',
  async () => {
    const questions = SIZES.flatMap((size, at) => {
      const former = SIZES[Math.floor((at * 7) / 11)] ?? 1;
      const before = SIZES[at - 1];
      return [
        { kind: 'tree', vkey, note: noteOf(size, rootAt(size)), dir: folder },
        ...[0, Math.floor(size / 2), size - 1].map((index) => inclusion(index, size)),
        ...[former, before ?? 1].filter((old) => old <= size).map((old) => consistency(old, size)),
        proofFile(size - 1, size),
      ];
    });
    const answers = await askGo(folder, questions);
    expect(answers).toHaveLength(questions.length);
    expect(answers.filter((answer) => answer !== 'ok')).toEqual([]);
    expect(rootAt(SIZE)).toEqual(rootOf(SIZE, subtrees));
  },
  120_000,
);
