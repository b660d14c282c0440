import { expect, it } from 'vitest';
import { renderTable } from './table.ts';

const ROWS = [
  { id: 'int_1', name: 'difference', hostname: 'difference.interns.example' },
  { id: 'int_2', name: 'analytical', hostname: null },
];

it('aligns columns of any width without a limit', () => {
  expect(renderTable(ROWS)).toEqual([
    'ID     NAME        HOSTNAME',
    'int_1  difference  difference.interns.example',
    'int_2  analytical  -',
  ]);
});

it('cuts the widest cells to fit', () => {
  const lines = renderTable(ROWS, { columns: 36 });
  expect(lines[1]).toBe('int_1  difference  difference.inter…');
  for (const line of lines) expect([...line].length).toBeLessThanOrEqual(36);
});

it('keeps part of every column if the terminal is too narrow', () => {
  expect(renderTable(ROWS, { columns: 1 })[1]).toBe('int_1  differe…  differe…');
});

it('never cuts an id', () => {
  const rows = [{ id: 'int_0123456789abcdef', model: 'anthropic/claude-opus-4.1' }];
  expect(renderTable(rows, { columns: 24 })[1]).toBe('int_0123456789abcdef  anthrop…');
});

it('shows flags and times', () => {
  expect(
    renderTable([
      { on: true, since: new Date(0) },
      { on: false, since: null },
    ]),
  ).toEqual(['ON   SINCE', 'yes  1970-01-01T00:00:00Z', 'no   -']);
});

it('escapes control characters, and aligns by the escaped width', () => {
  expect(
    renderTable([
      { name: '\u001b[2J', next: 'x' },
      { name: 'a\nb', next: 'y' },
    ]),
  ).toEqual(['NAME       NEXT', '\\u{1b}[2J  x', 'a\\u{a}b    y']);
});
