import { renderTable } from '@ori/terminal/table';
import { expect, test } from 'vitest';

test('aligns columns under their headings, without trailing spaces', () => {
  expect(
    renderTable(
      ['id', 'on', 'since'],
      [
        ['a', true, new Date(0)],
        ['long', false, null],
      ],
    ),
  ).toEqual(['ID    ON   SINCE', 'a     yes  1970-01-01T00:00:00Z', 'long  no   -']);
});

test('escapes control characters, and aligns by the escaped width', () => {
  const rows = renderTable(
    ['name', 'next'],
    [
      ['\u001b[2J', 'x'],
      ['a\nb', 'y'],
    ],
  );
  expect(rows).toEqual(['NAME       NEXT', '\\u{1b}[2J  x', 'a\\u{a}b    y']);
});
