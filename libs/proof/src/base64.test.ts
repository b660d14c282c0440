import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base64, base64url } from './base64.ts';

const bytes = fc.uint8Array({ maxLength: 70 });

test('base64 spells bytes as Buffer does and reads them back', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      const text = base64.encode(value);
      expect(text).toBe(Buffer.from(value).toString('base64'));
      expect(base64.decode(text, value.length)).toEqual(value);
    }),
  );
});

test('base64url spells bytes as Buffer does and reads them back', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      const text = base64url.encode(value);
      expect(text).toBe(Buffer.from(value).toString('base64url'));
      expect(base64url.decode(text, value.length)).toEqual(value);
    }),
  );
});

test('no text but the canonical one is read', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), fc.nat(8), (text, byteLength) => {
      const read = base64.decode(text, byteLength);
      if (read !== undefined) expect(base64.encode(read)).toBe(text);
      expect(base64.decode(text, byteLength + 1)).toEqual(
        Buffer.from(text, 'base64').length === byteLength + 1 &&
          Buffer.from(text, 'base64').toString('base64') === text
          ? new Uint8Array(Buffer.from(text, 'base64'))
          : undefined,
      );
    }),
    { numRuns: 1000 },
  );
});

test('bytes of another number than asked for are not read', () => {
  expect(base64.decode('AAAA', 2)).toBeUndefined();
  expect(base64.decode('AAAA', 4)).toBeUndefined();
  expect(base64url.decode('AAA', 3)).toBeUndefined();
});
