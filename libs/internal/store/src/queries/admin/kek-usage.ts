import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { sealedUnder } from '../../sealing/seal.ts';
import { PROVIDER_KEYS, SEEDS, type SealedTable } from './sealed-tables.ts';

export interface KekUsage {
  readonly seeds: number;
  readonly providerKeys: number;
}

const PAGE = 1000;

/** The number of rows sealed under each KEK, by kid. A KEK with none can be removed from the ring. */
export async function countByKek(db: Database): Promise<Map<string, KekUsage>> {
  const usage = new Map<string, { seeds: number; providerKeys: number }>();
  for (const [what, place] of [
    ['seeds', SEEDS],
    ['providerKeys', PROVIDER_KEYS],
  ] as const) {
    for await (const header of headersOf(db, place)) {
      const kid = kidOf(header);
      const counts = usage.get(kid) ?? { seeds: 0, providerKeys: 0 };
      counts[what]++;
      usage.set(kid, counts);
    }
  }
  return usage;
}

/** The protected header of every sealed text, which contains the kid of its KEK, page by page. */
async function* headersOf(db: Database, { table, column, idType }: SealedTable): AsyncIterable<string> {
  let after: string | undefined;
  for (;;) {
    const { rows } = await sql<{ id: string; header: string }>`
      select id, split_part(${sql.ref(column)}, '.', 1) as header from ${sql.table(table)}
      ${after === undefined ? sql`` : sql`where id > ${after}::${sql.raw(idType)}`}
      order by id limit ${PAGE}`.execute(db.kysely);
    for (const { id, header } of rows) {
      after = id;
      yield header;
    }
    if (rows.length < PAGE) return;
  }
}

/** Texts that are not sealed texts of ours count under `?`. */
function kidOf(header: string): string {
  try {
    return sealedUnder(`${header}....`);
  } catch {
    return '?';
  }
}
