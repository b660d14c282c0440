import { expect, it } from 'vitest';
import { apply, judge } from './linear-patterns.ts';
import { PATTERN_SIZE_MAX, PATTERNS_SIZE_MAX } from './pattern-size.ts';

const filter = (pattern: string, action: string, replacement = '[X]') => ({ pattern, action, replacement });

it('applies each filter to what the ones before it left', () => {
  const filters = [
    filter('b+', 'redact', '[B]'),
    filter('a', 'flag'),
    filter('\\[B\\]', 'redact', 'c'),
    filter('nothing', 'redact'),
  ];
  expect(apply({ text: 'abba b', filters })).toEqual({ counts: [2, 2, 2, 0], text: 'aca c' });
});

it('counts no empty match, and replaces none', () => {
  expect(apply({ text: 'ab', filters: [filter('b*', 'redact')] })).toEqual({ counts: [1], text: 'a[X]' });
});

const sized = (size: number) => 'x'.repeat(size);

it.each([
  [
    'that are as large as they may be',
    Array(PATTERNS_SIZE_MAX / PATTERN_SIZE_MAX).fill(sized(PATTERN_SIZE_MAX)),
  ],
  ['of every kind', ['a|b', '[a-z]{3}', '(?i)x']],
  ['of which there are fifty', Array(50).fill(sized(1000))],
])('takes patterns %s', (_what, patterns) => {
  expect(judge(patterns)).toEqual({});
});

it.each([
  ['too large', ['a', sized(PATTERN_SIZE_MAX + 1)], 1],
  ['too large with their repetitions', ['a{1000}'.repeat(6)], 0],
  ['of too many classes of Unicode', [`[${'\\pL'.repeat(30)}]`], 0],
  ['too large together', [...Array(12).fill(sized(PATTERN_SIZE_MAX)), 'a'], 12],
  ['not a regular expression', ['a', 'b', '(?=a)b'], 2],
])('refuses patterns that are %s, by the first', (_what, patterns, index) => {
  expect(judge(patterns)).toMatchObject({ refused: { index } });
});
