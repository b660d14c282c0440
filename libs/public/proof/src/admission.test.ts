import { expect, test } from 'vitest';
import { requireAdmissible } from './admission.ts';
import {
  edgeKey,
  littleEndian,
  namedScalar,
  SMALL_ORDER_SPELLINGS,
  TORSION,
} from './curve-edge-cases.fixture.ts';
import { KeyError, type KeyErrorCode } from './errors.ts';

const FIELD_PRIME = 2n ** 255n - 19n;

function refusal(publicKey: Uint8Array): KeyErrorCode | 'admitted' {
  try {
    requireAdmissible(publicKey);
    return 'admitted';
  } catch (error) {
    if (error instanceof KeyError) return error.code;
    throw error;
  }
}

test('admits points of prime order', () => {
  for (const name of ['a', 'b', 'c', 'd'])
    expect(refusal(edgeKey(namedScalar(name)).encoded)).toBe('admitted');
});

test('refuses all 14 encodings of small-order points', () => {
  expect(SMALL_ORDER_SPELLINGS).toHaveLength(14);
  expect(SMALL_ORDER_SPELLINGS.map(refusal)).toEqual(Array(14).fill('key_small_order'));
});

test('refuses a point with any of the seven torsion parts', () => {
  const codes = TORSION.map((torsion) => refusal(edgeKey(namedScalar('mixed'), torsion).encoded));
  expect(codes).toEqual(['admitted', ...Array(7).fill('key_not_torsion_free')]);
});

test('refuses every y not below p, with either sign', () => {
  for (let y = FIELD_PRIME; y < 2n ** 255n; y++) {
    for (const sign of [0n, 1n]) {
      const code = refusal(littleEndian(y | (sign << 255n)));
      expect(code).toBe(y - FIELD_PRIME < 2n ? 'key_small_order' : 'key_not_canonical');
    }
  }
});

test('refuses 32 bytes that are not a point', () => {
  expect(refusal(new Uint8Array(32).fill(2))).toBe('key_not_on_curve');
});

test('refuses any other length', () => {
  const { encoded } = edgeKey(namedScalar('a'));
  expect(refusal(encoded.subarray(0, 31))).toBe('key_length');
  expect(refusal(new Uint8Array([...encoded, 0]))).toBe('key_length');
  expect(refusal(new Uint8Array())).toBe('key_length');
});
