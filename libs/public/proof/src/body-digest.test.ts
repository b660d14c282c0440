import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodySha256, createBodyDigest } from './body-digest.ts';
import { engine as portable } from './engine-portable.ts';

test('the digest of a body is the same in one piece and in chunks, by either engine', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
      const body = Buffer.concat(chunks);
      const expected = createHash('sha256').update(body).digest('hex');
      for (const engine of [{ sha256Hex: bodySha256, createSha256: createBodyDigest }, portable]) {
        expect(engine.sha256Hex(body)).toBe(expected);
        const digest = engine.createSha256();
        for (const chunk of chunks) digest.update(chunk);
        expect(digest.hex()).toBe(expected);
      }
    }),
  );
});

test('the digest of an empty body is the SHA-256 of no bytes', () => {
  expect(createBodyDigest().hex()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test('the digest of a view covers only the view', () => {
  const bytes = new TextEncoder().encode('xxhelloxx');
  expect(bodySha256(bytes.subarray(2, 7))).toBe(bodySha256(new TextEncoder().encode('hello')));
});
