import { expect, it } from 'vitest';
import { requireClock } from './finding.ts';

it('accepts a second between two clocks, and names the direction of more', () => {
  expect(() => requireClock('Redis', 10_000, 11_000)).not.toThrow();
  expect(() => requireClock('Redis', 10_000, 11_100)).toThrow('1.1 s ahead of that of Redis');
  expect(() => requireClock('Redis', 12_000, 10_000)).toThrow('2.0 s behind that of Redis');
});
