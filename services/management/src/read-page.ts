import type { Schema } from '@ori/store/schema';
import { type RawBuilder, sql, type Transaction } from 'kysely';

export interface Page<Row> {
  readonly rows: Row[];
  /** The number of matches on all pages. */
  readonly total: number;
}

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Reads a page and its total in one statement, so that both are of one snapshot.
 *
 * @param rows the query of the page, with columns `id` and those of `order`
 * @param total an expression
 */
export async function readPage<Row extends { readonly id: string }>(
  trx: Transaction<Schema>,
  { rows, order, total }: { rows: RawBuilder<Row>; order: RawBuilder<unknown>; total: RawBuilder<number> },
): Promise<Page<Row>> {
  const { rows: found } = await sql<{ total: number } & (Row | { readonly id: null })>`
    select counted.total, page.* from (select ${total}::bigint as total) counted
    left join (${rows}) page on true order by ${order}`.execute(trx);
  return {
    total: Number(found[0]?.total ?? 0),
    rows: found.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row as unknown as Row])),
  };
}
