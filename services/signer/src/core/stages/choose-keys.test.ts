import { expect, test } from 'vitest';
import { chooseKeys } from './choose-keys.ts';

const key = (id: string, notBefore: number, expiresAt: number | null = null) => ({
  id,
  notBefore,
  expiresAt,
});
const idsAt = (now: number, ...keys: ReturnType<typeof key>[]) => chooseKeys(keys, now).map(({ id }) => id);

// SPEC.md K21.
test('uses a key from its first second up to the second before it expires', () => {
  const only = key('a', 100, 200);
  expect([99, 100, 199, 200].map((now) => idsAt(now, only).length)).toEqual([0, 1, 1, 0]);
});

test('tries the newest first', () => {
  expect(idsAt(500, key('old', 100), key('new', 400), key('to come', 600), key('past', 200, 300))).toEqual([
    'new',
    'old',
  ]);
});
