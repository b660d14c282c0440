import { renderTable } from '@ori/terminal/table';
import { expect, test } from 'vitest';

test('aligns columns under their heads, and leaves no space at the end', () => {
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

test('shows what could steer a terminal, and measures what it shows', () => {
  const rows = renderTable(
    ['name', 'next'],
    [
      ['\u001b[2J', 'x'],
      ['a\nb', 'y'],
    ],
  );
  expect(rows).toEqual(['NAME       NEXT', '\\u{1b}[2J  x', 'a\\u{a}b    y']);
});
