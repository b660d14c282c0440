import { expect, it } from 'vitest';
import { clockAheadSeconds, isClockWrong, tellClock } from './clock.ts';

const DATE = 'Sun, 22 Nov 2026 11:00:00 GMT';
const THEN = Date.parse(DATE) / 1000;

it('compares this clock with the date of an answer, however long a cache kept it', () => {
  expect(clockAheadSeconds({ date: DATE }, THEN + 86_400)).toBe(86_400);
  expect(clockAheadSeconds({ date: DATE }, THEN - 90)).toBe(-90);
  expect(clockAheadSeconds({ date: DATE, age: '100' }, THEN + 100)).toBe(0);
});

it.each([undefined, null, '', 'yesterday'])('is undefined for the date %j', (date) => {
  expect(clockAheadSeconds({ date }, THEN)).toBeUndefined();
  expect(isClockWrong(undefined)).toBe(false);
});

it('ignores small differences', () => {
  expect([0, 30, -30].map(isClockWrong)).toEqual([false, false, false]);
  expect([31, -31].map(isClockWrong)).toEqual([true, true]);
});

it.each([
  [86_400, '1 day ahead'],
  [86_399, '1 day ahead'],
  [-86_401, '1 day behind'],
  [172_800, '2 days ahead'],
  [-7200, '2 hours behind'],
  [60, '1 minute ahead'],
  [45, '45 seconds ahead'],
])('describes a difference of %i s as %s', (seconds, words) => {
  expect(tellClock(seconds)).toBe(words);
});
