import { expect, it } from 'vitest';
import { splitLines } from './audit-files.ts';

it.each<[string, string[], number]>([
  ['', [], 0],
  ['half', [], 0],
  ['a\nhalf', ['a'], 2],
  ['a\n\n\nbc\n\n', ['a', 'bc'], 8],
  ['\n', [], 1],
])('splits %j into its complete lines without empty ones', (text, lines, bytes) => {
  const split = splitLines(Buffer.from(text));
  expect([split.lines.map(String), split.bytes]).toEqual([lines, bytes]);
});
