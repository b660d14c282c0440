import { expect, it } from 'vitest';
import { findRefused } from './linear-patterns.ts';
import { PATTERN_SIZE_MAX, PATTERNS_SIZE_MAX } from './pattern-size.ts';

const sized = (size: number) => 'x'.repeat(size);

it.each([
  [
    'that are as large as they may be',
    Array(PATTERNS_SIZE_MAX / PATTERN_SIZE_MAX).fill(sized(PATTERN_SIZE_MAX)),
  ],
  ['of every kind', ['a|b', '[a-z]{3}', '(?i)x']],
  ['of which there are fifty', Array(50).fill(sized(1000))],
])('takes patterns %s', (_what, patterns) => {
  expect(findRefused(patterns)).toEqual({});
});

it.each([
  ['too large', ['a', sized(PATTERN_SIZE_MAX + 1)], 1],
  ['too large with their repetitions', ['a{1000}'.repeat(6)], 0],
  ['of too many classes of Unicode', [`[${'\\pL'.repeat(30)}]`], 0],
  ['too large together', [...Array(12).fill(sized(PATTERN_SIZE_MAX)), 'a'], 12],
  ['not a regular expression', ['a', 'b', '(?=a)b'], 2],
])('refuses patterns that are %s, by the first', (_what, patterns, index) => {
  expect(findRefused(patterns)).toMatchObject({ refused: { index } });
});
