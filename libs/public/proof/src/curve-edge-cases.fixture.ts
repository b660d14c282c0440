import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';

/**
 * Edge cases of Ed25519 keys and signatures with known secrets, only for tests and test vectors: nothing here runs in
 * constant time. "Torsion" is the component of a point in the subgroup of order 8, the cofactor of the curve.
 */
export type Point = InstanceType<typeof ed25519.Point>;

const { Point } = ed25519;
const { BASE, ZERO } = Point;
/** p and L of RFC 8032, section 5.1. */
const FIELD_PRIME = 2n ** 255n - 19n;
export const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const ORDER_8 = Point.fromBytes(
  hexToBytes('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'),
);

/** The 8 points of small order: multiples 0 to 7 of one of order 8. */
export const TORSION: readonly Point[] = Array.from({ length: 8 }).reduce<Point[]>(
  (points) => [...points, (points.at(-1) ?? ZERO).add(points.length === 0 ? ZERO : ORDER_8)],
  [],
);

/**
 * Every encoding that some decoder accepts for this point, the canonical one first: y may be encoded as y + p, and x =
 * 0 with either sign.
 */
function spellings(point: Point): Uint8Array[] {
  const { x, y } = point.toAffine();
  const signs = x === 0n ? [0n, 1n] : [x & 1n];
  const ys = [y, y + FIELD_PRIME].filter((spelt) => spelt < 2n ** 255n);
  return ys.flatMap((spelt) => signs.map((sign) => littleEndian(spelt | (sign << 255n))));
}

/** The 14 encodings of small-order points. */
export const SMALL_ORDER_SPELLINGS: readonly Uint8Array[] = TORSION.flatMap(spellings);

/** A key pair whose public point can have a torsion component and any encoding. */
export interface EdgeKey {
  scalar: bigint;
  encoded: Uint8Array;
}

/** `[scalar]B + torsion`, canonical unless `encoded` is given. */
export function edgeKey(scalar: bigint, torsion: Point = ZERO): EdgeKey {
  return { scalar, encoded: multiply(BASE, scalar).add(torsion).toBytes() };
}

/** The scalar of an honest key's seed (RFC 8032, section 5.1.5), modulo L. */
export function scalarOfSeed(seed: Uint8Array): bigint {
  return modulo(ed25519.utils.getExtendedPublicKey(seed).scalar);
}

/** A nonce scalar derived from its name. */
export function namedScalar(name: string): bigint {
  return modulo(numberFrom(sha512(new TextEncoder().encode(name))));
}

/** k of RFC 8032, section 5.1.7, over the bytes as encoded. */
function challenge(spelledR: Uint8Array, key: Uint8Array, input: Uint8Array): bigint {
  return modulo(numberFrom(sha512(concatBytes(spelledR, key, input))));
}

/** The S that satisfies the prime-order part of the equation for this R: `nonce + k * scalar` modulo L. */
export function solveS(key: EdgeKey, nonce: bigint, spelledR: Uint8Array, input: Uint8Array): bigint {
  return modulo(nonce + challenge(spelledR, key.encoded, input) * key.scalar);
}

/** R and S side by side; S may be anything below 2^256. */
export function join(spelledR: Uint8Array, s: bigint): Uint8Array {
  return concatBytes(spelledR, littleEndian(s));
}

/** A signature whose R is `[nonce]B + torsion`, canonical. */
export function signWith(key: EdgeKey, nonce: bigint, input: Uint8Array, torsion: Point = ZERO): Uint8Array {
  const spelledR = multiply(BASE, nonce).add(torsion).toBytes();
  return join(spelledR, solveS(key, nonce, spelledR, input));
}

/**
 * A signature whose challenge is a multiple of 8, so that any torsion component of the key vanishes from the equation:
 * a signature that a lax engine accepts under a key of mixed or small order.
 */
export function signPastTorsion(key: EdgeKey, name: string, input: Uint8Array): Uint8Array {
  for (let attempt = 0; ; attempt++) {
    const nonce = namedScalar(`${name} ${attempt}`);
    const spelledR = multiply(BASE, nonce).toBytes();
    if (challenge(spelledR, key.encoded, input) % 8n === 0n) {
      return join(spelledR, solveS(key, nonce, spelledR, input));
    }
  }
}

export function readS(signature: Uint8Array): bigint {
  return numberFrom(signature.subarray(32));
}

export function littleEndian(number: bigint): Uint8Array {
  return hexToBytes(number.toString(16).padStart(64, '0')).reverse();
}

function numberFrom(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function multiply(point: Point, scalar: bigint): Point {
  return scalar === 0n ? ZERO : point.multiplyUnsafe(scalar);
}

function modulo(number: bigint): bigint {
  return number % GROUP_ORDER;
}
