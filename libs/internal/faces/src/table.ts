import { printable } from './printable.ts';

/** The value of a cell; null and an empty text are shown as `-`. */
export type Cell = string | number | boolean | Date | null | undefined;

/** The minimum width of a truncated column. */
const COLUMN_MIN = 8;
const GAP = '  ';

/**
 * Rows under the names of their members, in aligned columns; at least one row. Text is escaped before it is measured,
 * so that it cannot draw outside its cell. If the lines are wider than `columns`, the widest cells are truncated with an
 * ellipsis, except in a column `id`, because a truncated id is of no use.
 */
export function renderTable(
  rows: readonly Readonly<Record<string, Cell>>[],
  { columns = Number.POSITIVE_INFINITY }: { columns?: number | undefined } = {},
): string[] {
  const head = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => Object.values(row).map(toText));
  const texts = [head.map((title) => title.toUpperCase()), ...cells];
  const widths = narrowed(
    head.map((_, column) => texts.reduce((max, row) => Math.max(max, widthOf(row[column] ?? '')), 0)),
    columns,
    head.indexOf('id'),
  );
  return texts.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function narrowed(widths: readonly number[], columns: number, kept: number): number[] {
  const fitted = [...widths];
  for (let excess = total(fitted) - columns; excess > 0; excess -= 1) {
    const others = fitted.map((width, column) => (column === kept ? 0 : width));
    const widest = others.indexOf(Math.max(...others));
    if ((fitted[widest] ?? 0) <= COLUMN_MIN) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
}

function padded(text: string, width: number): string {
  const characters = [...text];
  if (characters.length > width) return `${characters.slice(0, width - 1).join('')}…`;
  return text + ' '.repeat(width - characters.length);
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
