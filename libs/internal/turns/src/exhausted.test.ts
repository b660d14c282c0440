import { expect, it } from 'vitest';
import { createExhaustedKeys } from './exhausted.ts';

it('remembers a key until its window ends', () => {
  let now = 1000;
  const keys = createExhaustedKeys(() => now);
  keys.add('a', 50);
  expect([keys.has('a'), keys.has('b')]).toEqual([true, false]);
  now = 1050;
  expect(keys.has('a')).toBe(false);
});

it('forgets the oldest key rather than growing without end', () => {
  const keys = createExhaustedKeys();
  keys.add('renewed', 60_000);
  keys.add('oldest', 60_000);
  keys.add('renewed', 60_000);
  for (let key = 0; key < 9_999; key++) keys.add(String(key), 60_000);
  expect([keys.has('oldest'), keys.has('renewed'), keys.has('9998')]).toEqual([false, true, true]);
});
