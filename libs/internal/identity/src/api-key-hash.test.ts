import { expect, test } from 'vitest';
import { ApiKeyHash } from './api-key-hash.ts';

const hash = '0123456789abcdef'.repeat(4);

test('the example in its documentation is one', () => {
  expect(ApiKeyHash.safeParse(ApiKeyHash.meta()?.['example']).success).toBe(true);
});

test.each([
  [true, 'of 64 digits', hash],
  [false, 'a digit short', hash.slice(1)],
  [false, 'with a digit before it', `0${hash}`],
  [false, 'with a digit after it', `${hash}0`],
  [false, 'in capitals', hash.toUpperCase()],
  [false, 'of other letters', 'g'.repeat(64)],
])('takes, %s, a hash %s', (isTaken, _, text) => {
  expect(ApiKeyHash.safeParse(text).success).toBe(isTaken);
});
