import { expect, test } from 'vitest';
import { GROUP_ORDER, join, littleEndian, SMALL_ORDER_SPELLINGS } from './curve-edge-cases.fixture.ts';
import { isCanonicalFieldElement, isJudgeable, isSmallOrderEncoding } from './small-order.ts';

const R = littleEndian(9n);

test('recognizes the 14 encodings at any offset', () => {
  for (const encoding of SMALL_ORDER_SPELLINGS) {
    expect(isSmallOrderEncoding(encoding)).toBe(true);
    expect(isSmallOrderEncoding(new Uint8Array([7, 7, ...encoding, 7]), 2)).toBe(true);
  }
});

test('does not match anything one bit away from the 14 encodings', () => {
  const known = new Set(SMALL_ORDER_SPELLINGS.map((bytes) => Buffer.from(bytes).toString('hex')));
  for (const encoding of SMALL_ORDER_SPELLINGS) {
    for (let bit = 0; bit < 256; bit++) {
      const near = encoding.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(isSmallOrderEncoding(near)).toBe(known.has(Buffer.from(near).toString('hex')));
    }
  }
});

test('a signature is judged only with S below L', () => {
  const judged = [
    0n,
    1n,
    GROUP_ORDER - 1n,
    GROUP_ORDER,
    GROUP_ORDER + 1n,
    2n ** 252n,
    2n ** 253n,
    2n ** 256n - 1n,
  ];
  expect(judged.map((s) => isJudgeable(join(R, s)))).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
    false,
    false,
  ]);
});

test('a signature is judged only with R of large order and 64 bytes', () => {
  for (const encoding of SMALL_ORDER_SPELLINGS) expect(isJudgeable(join(encoding, 1n))).toBe(false);
  expect(isJudgeable(join(R, 1n).subarray(0, 63))).toBe(false);
  expect(isJudgeable(new Uint8Array([...join(R, 1n), 0]))).toBe(false);
});

test('a field element is canonical below p, whatever the sign bit', () => {
  const p = 2n ** 255n - 19n;
  const canonical = [0n, p - 1n, p, 2n ** 255n - 1n].map((y) => isCanonicalFieldElement(littleEndian(y)));
  expect(canonical).toEqual([true, true, false, false]);
  expect(isCanonicalFieldElement(littleEndian((p - 1n) | (1n << 255n)))).toBe(true);
  expect(isCanonicalFieldElement(littleEndian(p | (1n << 255n)))).toBe(false);
});
