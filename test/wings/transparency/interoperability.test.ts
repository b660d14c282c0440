import { createHash } from 'node:crypto';
import { createSigningKey } from '@ori/proof/signing';
import { renderCheckpoint } from '@ori/tlog/checkpoint';
import {
  consistencyProof,
  type Hash,
  inclusionProof,
  leafHash,
  verifyConsistency,
  verifyInclusion,
} from '@ori/tlog/merkle';
import { NOTE_TYPES, noteKey, renderNote, renderVkey, signNote } from '@ori/tlog/note';
import { readTile, subtreesOf, type Tile } from '@ori/tlog/tile';
import { openTree } from '@ori/tlog/tree';
import { expect, test } from 'vitest';
import go from './interoperability.json' with { type: 'json' };

// interoperability.json was made by golang.org/x/mod v0.30.0, sumdb/note and sumdb/tlog: the checkpoints and proofs of a
// log whose leaf n is the SHA-256 of `entry n`, with the key whose seed is the SHA-256 of `interoperability`.

const ORIGIN = 'log.example/log';
const key = createSigningKey(createHash('sha256').update('interoperability').digest());
const entryOf = (index: number) => createHash('sha256').update(`entry ${index}`).digest();

const tiles = new Map<string, Tile>();
const subtrees = subtreesOf((level, index) => tiles.get(`${level}/${index}`) as Tile);
const tree = openTree();
const roots = new Map<number, Hash>();
for (let index = 0; index < 1000; index += 1) {
  for (const made of [...tree.append(entryOf(index)), ...tree.partial()])
    if (made.level !== 'entries') tiles.set(`${made.level}/${made.index}`, readTile(made.bytes, made.width));
  roots.set(tree.size, tree.root());
}
const rootAt = (size: number) => roots.get(size) as Hash;
const base64 = (hashes: readonly Hash[]) => hashes.map((hash) => Buffer.from(hash).toString('base64'));

test('the key and the checkpoints are those that Go makes', () => {
  expect(renderVkey(noteKey(ORIGIN, NOTE_TYPES.ed25519, key.publicKey))).toBe(go.vkey);
  for (const { size, note } of go.checkpoints) {
    const text = renderCheckpoint({ origin: ORIGIN, size, root: rootAt(size) });
    expect(renderNote({ text, signatures: [signNote(text, ORIGIN, key)] })).toBe(note);
  }
});

test('inclusion and consistency are proved and verified as Go does', () => {
  for (const { index, size, path } of go.inclusion) {
    const own = inclusionProof(index, size, subtrees);
    expect(base64(own)).toEqual(path);
    expect(verifyInclusion({ index, size, root: rootAt(size) }, leafHash(entryOf(index)), own)).toBe(true);
  }
  for (const { old, size, path } of go.consistency) {
    const own = consistencyProof(old, size, subtrees);
    expect(base64(own)).toEqual(path);
    const former = { size: old, root: rootAt(old) };
    expect(verifyConsistency(former, { size, root: rootAt(size) }, own)).toBe(true);
  }
});
