import { printable } from './printable.ts';

/** What a cell may hold; null and an empty text are shown as `-`. */
export type Cell = string | number | boolean | Date | null | undefined;

/** Rows of text under a head, columns aligned. Text is escaped before it is measured, so that none can draw outside its cell. */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = [head.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(toText))];
  const widths = head.map((_, column) => Math.max(...texts.map((row) => widthOf(row[column] ?? ''))));
  return texts.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  );
}

function toText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (cell instanceof Date) return cell.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return printable(String(cell));
}

function widthOf(text: string): number {
  return [...text].length;
}
