import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonPieces } from './json-pieces.ts';

test('the pieces together are the JSON text of the object', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.array(fc.jsonValue()))),
      async (object) => {
        expect(Buffer.concat(await jsonPieces(object)).toString()).toBe(JSON.stringify(object));
      },
    ),
  );
});

test('other requests run while a large page is serialized', async () => {
  const page = { data: Array.from({ length: 100 }, () => ({ text: 'x'.repeat(100_000) })), total_count: 100 };
  const ended: string[] = [];
  const writing = jsonPieces(page).then(() => ended.push('page'));
  await new Promise((resolve) => setImmediate(resolve));
  ended.push('other');
  await writing;
  expect(ended).toEqual(['other', 'page']);
});
