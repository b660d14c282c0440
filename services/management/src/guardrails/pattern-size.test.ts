import { expect, it } from 'vitest';
import { patternSize } from './pattern-size.ts';

it.each([
  ['abc', 3],
  ['a{10}', 10],
  ['a{2,10}', 10],
  ['a{10,}', 10],
  ['(ab){10}', 30],
  ['((ab){10}c){10}', 320],
  ['[a-z{3}]{4}', 4],
  ['[]x]{4}', 4],
  ['[[:alpha:]]{4}', 4],
  ['\\{3}', 3],
  ['\\pL{3}', 600],
  ['\\p{Greek}{3}', 600],
  ['[^\\PL\\d\\p{Greek}]{2}', 800],
  ['\\x{1F600}{3}', 3],
  ['\\Qa{9}\\E', 8],
  ['\\Qa {9}\\E', 9],
  ['\\Qa{9}', 6],
  ['\\{4}', 3],
  ['\\ {4}', 4],
  ['\\p {2}', 400],
  ['[\\ ]{4}', 4],
  ['[\\]]{4}', 4],
  ['a{2,1000}'.repeat(100), 100_000],
  ['(', 0],
  [')', 1],
])('computes the size of %s as %i', (pattern, size) => {
  expect(patternSize(pattern)).toBe(size);
});
