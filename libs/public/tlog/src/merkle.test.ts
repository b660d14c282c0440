import { describe, expect, it } from 'vitest';
import {
  consistencyProof,
  EMPTY_ROOT,
  type Hash,
  inclusionProof,
  leafHash,
  nodeHash,
  rootOf,
  type Subtrees,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';
import { digest, entryOf, mth } from './tree.fixture.ts';

const sizes = Array.from({ length: 18 }, (_, size) => size);
const subtrees: Subtrees = (height, index) => mth(index * 2 ** height, (index + 1) * 2 ** height);
const headOf = (size: number) => ({ size, root: mth(0, size) });
const leafOf = (index: number) => leafHash(entryOf(index));

/** Every list of hashes that is one step away from a proof. */
function* wrongs(proof: readonly Hash[]): Generator<Hash[]> {
  yield [...proof, mth(0, 1)];
  yield [mth(0, 1), ...proof];
  for (const at of proof.keys()) {
    yield proof.toSpliced(at, 1);
    yield proof.with(at, digest(proof[at] ?? ''));
    const [one, other] = [proof[at], proof[at + 1]];
    if (one !== undefined && other !== undefined) yield proof.with(at, other).with(at + 1, one);
  }
}

it('computes the roots of RFC 6962', () => {
  expect(Buffer.from(EMPTY_ROOT)).toEqual(mth(0, 0));
  for (const size of sizes) expect(Buffer.from(rootOf(size, subtrees))).toEqual(mth(0, size));
});

describe('an inclusion proof', () => {
  it('verifies for each leaf of each tree', () => {
    for (const size of sizes) {
      for (let index = 0; index < size; index++) {
        const proof = inclusionProof(index, size, subtrees);
        expect(verifyInclusion({ index, ...headOf(size) }, leafOf(index), proof), `${index}/${size}`).toBe(
          true,
        );
      }
    }
  });
  it('is refused if anything in it is changed, and for any other leaf, place or root', () => {
    for (const size of sizes) {
      const head = headOf(size);
      for (let index = 0; index < size; index++) {
        const [leaf, proof] = [leafOf(index), inclusionProof(index, size, subtrees)];
        for (const wrong of wrongs(proof))
          expect(verifyInclusion({ index, ...head }, leaf, wrong)).toBe(false);
        for (let other = -1; other <= size + 1; other++) {
          if (other === index) continue;
          expect(verifyInclusion({ index: other, ...head }, leaf, proof), `${other}/${size}`).toBe(false);
          expect(verifyInclusion({ index, ...head }, leafOf(other), proof)).toBe(false);
        }
        expect(verifyInclusion({ index, size, root: mth(0, size + 1) }, leaf, proof)).toBe(false);
      }
    }
  });
});

it('no hash of an inner node, and no node above the root, is taken for part of a proof', () => {
  const [leaf, other] = [leafOf(0), leafOf(1)];
  for (const size of sizes.slice(2)) {
    const { root } = headOf(size);
    expect(verifyInclusion({ index: 0, size, root }, root, [])).toBe(false);
  }
  for (const [root, index] of [
    [nodeHash(other, leaf), 0],
    [nodeHash(leaf, other), 0],
    [leaf, 1],
    [leaf, -1],
  ] as const)
    for (const path of [[], [other]])
      expect(verifyInclusion({ index, size: 1, root }, leaf, path), `${index}`).toBe(false);
});

it('a tree of another size has another root', () => {
  const [smaller, larger] = [
    { size: 1, root: leafOf(0) },
    { size: 2, root: leafOf(0) },
  ];
  expect(verifyConsistency(smaller, larger, [])).toBe(false);
  expect(verifyConsistency(larger, smaller, [])).toBe(false);
});

describe('a consistency proof', () => {
  it('verifies for each prefix of each tree, and is empty where nothing needs proof', () => {
    for (const size of sizes) {
      for (let first = 0; first <= size; first++) {
        const proof = consistencyProof(first, size, subtrees);
        expect(verifyConsistency(headOf(first), headOf(size), proof), `${first}/${size}`).toBe(true);
        expect(proof.length === 0).toBe(first === 0 || first === size);
      }
    }
  });
  it('is refused if anything in it is changed, for any other root, and for a smaller tree', () => {
    for (const size of sizes) {
      for (let first = 0; first <= size; first++) {
        const [former, latest, proof] = [
          headOf(first),
          headOf(size),
          consistencyProof(first, size, subtrees),
        ];
        for (const wrong of [...wrongs(proof), ...(proof.length > 0 ? [[]] : [])])
          expect(verifyConsistency(former, latest, wrong), `${first}/${size}`).toBe(false);
        expect(verifyConsistency({ ...former, root: leafOf(599) }, latest, proof)).toBe(false);
        if (first > 0 && first < size) {
          expect(verifyConsistency(former, { size, root: former.root }, [])).toBe(false);
        }
        if (first > 0) {
          expect(verifyConsistency(former, { ...latest, root: leafOf(599) }, proof)).toBe(false);
          expect(verifyConsistency(latest, headOf(first - 1), proof)).toBe(false);
        }
      }
    }
  });
});
