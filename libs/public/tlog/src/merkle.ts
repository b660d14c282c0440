import { hash } from 'node:crypto';

/** A SHA-256 hash: 32 bytes. */
export type Hash = Uint8Array;

export const HASH_BYTES = 32;

const LEAF_PREFIX = Uint8Array.of(0);

export function sha256(bytes: Uint8Array): Hash {
  return hash('sha256', bytes, 'buffer');
}

/** The root of the tree without leaves (RFC 6962, section 2.1). */
export const EMPTY_ROOT: Hash = sha256(new Uint8Array(0));

/** The hash of a leaf (RFC 6962, section 2.1). */
export function leafHash(entry: Uint8Array): Hash {
  return sha256(Buffer.concat([LEAF_PREFIX, entry]));
}

/** The hash of an inner node (RFC 6962, section 2.1). */
export function nodeHash(left: Hash, right: Hash): Hash {
  const input = new Uint8Array(1 + 2 * HASH_BYTES);
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 1 + HASH_BYTES);
  return sha256(input);
}

/** The bytes in pieces of one size. */
export function piecesOf(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: bytes.length / size }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

export function isSameHash(one: Hash, other: Hash): boolean {
  return Buffer.compare(one, other) === 0;
}

/** The hash of the complete subtree of 2^height leaves whose first leaf is index * 2^height. */
export type Subtrees = (height: number, index: number) => Hash;

/** The root of the first `size` leaves. */
export function rootOf(size: number, subtrees: Subtrees): Hash {
  return size === 0 ? EMPTY_ROOT : rangeHash(0, size, subtrees);
}

/** The inclusion proof of leaf `index`, from its sibling up (RFC 6962, section 2.1.1). */
export function inclusionProof(index: number, size: number, subtrees: Subtrees): Hash[] {
  const prove = (from: number, to: number): Hash[] => {
    if (to - from === 1) return [];
    const middle = from + split(to - from);
    return index < middle
      ? [...prove(from, middle), rangeHash(middle, to, subtrees)]
      : [...prove(middle, to), rangeHash(from, middle, subtrees)];
  };
  return prove(0, size);
}

/** The proof that the first `first` of `size` leaves are a prefix (RFC 6962, section 2.1.2); empty where nothing needs proof. */
export function consistencyProof(first: number, size: number, subtrees: Subtrees): Hash[] {
  const prove = (from: number, to: number, known: boolean): Hash[] => {
    if (first === to) return known ? [] : [rangeHash(from, to, subtrees)];
    const middle = from + split(to - from);
    return first <= middle
      ? [...prove(from, middle, known), rangeHash(middle, to, subtrees)]
      : [...prove(middle, to, false), rangeHash(from, middle, subtrees)];
  };
  return first === 0 ? [] : prove(0, size, true);
}

/** Whether `path` shows that `leaf` is leaf `index` of the tree of `size` leaves (RFC 9162, section 2.1.3.2). */
export function verifyInclusion(
  { index, size, root }: { index: number; size: number; root: Hash },
  leaf: Hash,
  path: readonly Hash[],
): boolean {
  if (!(index >= 0 && index < size)) return false;
  let position: Position = [index, size - 1];
  let hash = leaf;
  for (const sibling of path) {
    if (position[1] === 0) return false;
    if (isRight(position)) {
      hash = nodeHash(sibling, hash);
      position = skipLeft(position);
    } else {
      hash = nodeHash(hash, sibling);
    }
    position = up(position);
  }
  return position[1] === 0 && isSameHash(hash, root);
}

/** A signed or otherwise known tree. */
export interface TreeHead {
  readonly size: number;
  readonly root: Hash;
}

/** Whether `path` shows that the tree `first` is a prefix of the tree `second` (RFC 9162, section 2.1.4.2). */
export function verifyConsistency(first: TreeHead, second: TreeHead, path: readonly Hash[]): boolean {
  if (first.size > second.size) return false;
  if (first.size === second.size) return path.length === 0 && isSameHash(first.root, second.root);
  if (first.size === 0) return path.length === 0 && isSameHash(first.root, EMPTY_ROOT);
  let position: Position = [first.size - 1, second.size - 1];
  while (position[0] % 2 === 1) position = up(position);
  const [start, ...rest] = position[0] === 0 ? [first.root, ...path] : path;
  if (start === undefined) return false;
  let [former, current] = [start, start];
  for (const hash of rest) {
    if (position[1] === 0) return false;
    if (isRight(position)) {
      former = nodeHash(hash, former);
      current = nodeHash(hash, current);
      position = skipLeft(position);
    } else {
      current = nodeHash(current, hash);
    }
    position = up(position);
  }
  return position[1] === 0 && isSameHash(former, first.root) && isSameHash(current, second.root);
}

/** Where a node is at its height, and where the last one is. */
type Position = readonly [index: number, last: number];

const up = ([index, last]: Position): Position => [Math.floor(index / 2), Math.floor(last / 2)];

/** Whether the sibling is on the left: of an odd node, and of one at the end that was carried up without a sibling. */
const isRight = ([index, last]: Position): boolean => index % 2 === 1 || index === last;

/** From where the sibling is on the left, so that the index of a node above is odd. */
function skipLeft(position: Position): Position {
  let here = position;
  while (here[0] % 2 === 0) here = up(here);
  return here;
}

/** The largest power of two below `size`: where RFC 6962 splits a tree. */
function split(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

/** The hash of a range that `split` leads to: if it is complete, it begins at a multiple of its size. */
function rangeHash(from: number, to: number, subtrees: Subtrees): Hash {
  const size = to - from;
  const left = split(size);
  if (size === 1) return subtrees(0, from);
  if (left * 2 === size) return subtrees(Math.log2(size), from / size);
  return nodeHash(rangeHash(from, from + left, subtrees), rangeHash(from + left, to, subtrees));
}
