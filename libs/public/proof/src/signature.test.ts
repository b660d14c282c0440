import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ProofError } from './errors.ts';
import { decodeSignature, encodeSignature } from './signature.ts';

const PATTERN = /^[A-Za-z0-9+/]{85}[AQgw]==$/;
const TEXT = encodeSignature(randomBytes(64));

function isRefused(text: string): boolean {
  try {
    decodeSignature(text);
    return false;
  } catch (error) {
    return error instanceof ProofError && error.code === 'proof_malformed';
  }
}

test('64 bytes survive encoding and decoding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
      const text = encodeSignature(bytes);
      expect(text).toMatch(PATTERN);
      expect(decodeSignature(text)).toEqual(bytes);
    }),
  );
});

test('of all 65,536 last characters only the four without unused bits are accepted', () => {
  const taken = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (last) => !isRefused(`${TEXT.slice(0, 85)}${last}==`),
  );
  expect(taken.join('')).toBe('AQgw');
});

test('of all 256 characters only the 64 of the alphabet are accepted in every other place', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let place = 0; place < 85; place++) {
    const taken = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => !isRefused(TEXT.slice(0, place) + character + TEXT.slice(place + 1)),
    );
    expect(taken.toSorted().join(''), `place ${place}`).toBe([...alphabet].toSorted().join(''));
  }
});

test('only 64 bytes can be encoded', () => {
  expect(() => encodeSignature(new Uint8Array(63))).toThrow(TypeError);
  expect(() => encodeSignature(new Uint8Array(65))).toThrow(TypeError);
});
