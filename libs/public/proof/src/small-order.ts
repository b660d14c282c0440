import { ED25519 } from './algorithms.ts';

const FIELD_PRIME_MINUS_1 = 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f';
const ORDER_8_LOW = '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05';
const ORDER_8_HIGH = 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a';

/**
 * y of every encoding of a small-order point, little-endian, sign bit clear: 1 (order 1), p - 1 (order 2), 0 (order 4),
 * two of order 8, and 0 and 1 again, encoded as p and p + 1. With the sign bit set or clear these are the 14 encodings:
 * 8 canonical, 6 not.
 */
const SMALL_ORDER_Y: readonly Uint8Array[] = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  FIELD_PRIME_MINUS_1,
  '0000000000000000000000000000000000000000000000000000000000000000',
  ORDER_8_LOW,
  ORDER_8_HIGH,
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(bytesFromHex);

/** L, the order of the base point (RFC 8032, section 5.1), little-endian. */
const GROUP_ORDER = bytesFromHex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010');
/** p = 2^255 - 19, little-endian. */
const FIELD_PRIME = bytesFromHex('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f');

/** Whether the 32 bytes at `offset` are one of the 14 encodings of the 8 points of small order. */
export function isSmallOrderEncoding(bytes: Uint8Array, offset = 0): boolean {
  const last = (bytes[offset + 31] ?? 0) & 0x7f;
  if (last !== 0x00 && last !== 0x7f && last !== 0x05 && last !== 0x7a) return false;
  for (const y of SMALL_ORDER_Y) {
    if (last === y[31] && equalFirst31(bytes, offset, y)) return true;
  }
  return false;
}

/** Whether the y coordinate in 32 bytes is below the field prime: the only spelling RFC 8032, section 5.1.3 decodes. */
export function isCanonicalFieldElement(bytes: Uint8Array): boolean {
  const y = Uint8Array.from(bytes);
  y[31] = (y[31] ?? 0) & 0x7f;
  return isBelow(y, 0, FIELD_PRIME);
}

/**
 * Whether an engine may verify it: 64 bytes, R not an encoding of a small-order point, S < L (RFC 8032, section 5.1.7).
 * Runtimes differ on other signatures (KEY-SETS.md).
 */
export function isJudgeable(signature: Uint8Array): boolean {
  return (
    signature.length === ED25519.signatureBytes &&
    !isSmallOrderEncoding(signature) &&
    isBelow(signature, 32, GROUP_ORDER)
  );
}

/** Little-endian comparison of the 32 bytes at `offset` with `bound`, from the most significant byte. */
function isBelow(bytes: Uint8Array, offset: number, bound: Uint8Array): boolean {
  for (let index = 31; index >= 0; index--) {
    const byte = bytes[offset + index] ?? 0;
    const limit = bound[index] ?? 0;
    if (byte !== limit) return byte < limit;
  }
  return false;
}

function equalFirst31(bytes: Uint8Array, offset: number, y: Uint8Array): boolean {
  for (let index = 0; index < 31; index++) {
    if (bytes[offset + index] !== y[index]) return false;
  }
  return true;
}

export function bytesFromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}
