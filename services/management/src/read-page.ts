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

/** What a list has: its rows, as the end of a query, and their order, by columns of the page. */
interface List<Row> extends PageRequest {
  readonly matches: RawBuilder<unknown>;
  readonly order: RawBuilder<unknown>;
  readonly columns?: RawBuilder<unknown>;
  /** A query of what is shown of the rows of a page. */
  readonly shown?: (page: RawBuilder<unknown>) => RawBuilder<Row>;
}

/** Reads a page and counts all matches in one statement, so that both are of one snapshot. */
export async function readPage<Row extends { readonly id: string }>(
  trx: Transaction<Schema>,
  { matches, order, columns = sql`*`, shown, offset, limit }: List<Row>,
): Promise<Page<Row>> {
  const page = sql`select ${columns} ${matches} order by ${order} offset ${offset} limit ${limit}`;
  const { rows: found } = await sql<{ total: number } & (Row | { readonly id: null })>`
    select counted.total, page.* from (select count(*) as total ${matches}) counted
    left join (${shown?.(page) ?? page}) page on true order by ${order}`.execute(trx);
  return {
    total: Number(found[0]?.total ?? 0),
    rows: found.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row as unknown as Row])),
  };
}
