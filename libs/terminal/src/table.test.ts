import { expect, it } from 'vitest';
import { renderTable } from './table.ts';

const ROWS = [
  ['int_1', 'difference', 'difference.interns.example'],
  ['int_2', 'analytical', null],
];

it('aligns columns of any width without a limit', () => {
  expect(renderTable(['id', 'name', 'hostname'], ROWS)).toEqual([
    'ID     NAME        HOSTNAME',
    'int_1  difference  difference.interns.example',
    'int_2  analytical  -',
  ]);
});

it('cuts the widest cells to fit', () => {
  const lines = renderTable(['id', 'name', 'hostname'], ROWS, { columns: 36 });
  expect(lines[1]).toBe('int_1  difference  difference.inter…');
  for (const line of lines) expect([...line].length).toBeLessThanOrEqual(36);
});

it('keeps part of every column if the terminal is too narrow', () => {
  expect(renderTable(['id', 'name', 'hostname'], ROWS, { columns: 1 })[1]).toBe('int_1  differe…  differe…');
});
