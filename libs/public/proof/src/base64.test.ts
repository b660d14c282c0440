import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base64, base64url } from './base64.ts';

const bytes = fc.uint8Array({ maxLength: 70 });

test('base64 encodes like Buffer and decodes its output', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      const text = base64.encode(value);
      expect(text).toBe(Buffer.from(value).toString('base64'));
      expect(base64.decode(text, value.length)).toEqual(value);
    }),
  );
});

test('base64url encodes like Buffer and decodes its output', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      const text = base64url.encode(value);
      expect(text).toBe(Buffer.from(value).toString('base64url'));
      expect(base64url.decode(text, value.length)).toEqual(value);
    }),
  );
});

test('only the canonical encoding is decoded', () => {
  const letters = fc.constantFrom(...'ABQgwz/+-_=', ' ', '\n', '\xe9', '\u2126');
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 8 }), fc.nat(6), (text, byteLength) => {
      const bytes = Buffer.from(text, 'base64');
      const isCanonical = bytes.length === byteLength && bytes.toString('base64') === text;
      expect(base64.decode(text, byteLength)).toEqual(isCanonical ? new Uint8Array(bytes) : undefined);
    }),
    { numRuns: 2000 },
  );
});

test('text of another length than expected is not decoded', () => {
  expect(base64.decode('AAAA', 2)).toBeUndefined();
  expect(base64.decode('AAAA', 4)).toBeUndefined();
  expect(base64url.decode('AAA', 3)).toBeUndefined();
});
