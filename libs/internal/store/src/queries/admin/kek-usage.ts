import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import type { KekOwner } from '../../sealing/kek-ring.ts';
import { sealedUnder } from '../../sealing/seal.ts';
import { SEALED_TABLES } from './sealed-tables.ts';

const PAGE = 1000;

/** The number of rows of a service that are sealed under each KEK, by kid. A KEK with none can be removed from the ring. */
export async function countByKek(db: Database, owner: KekOwner): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const header of headersOf(db, owner)) {
    const kid = kidOf(header);
    counts.set(kid, (counts.get(kid) ?? 0) + 1);
  }
  return counts;
}

/** The protected header of every sealed text, which contains the kid of its KEK, page by page. */
async function* headersOf(db: Database, owner: KekOwner): AsyncIterable<string> {
  const { table, column, idType } = SEALED_TABLES[owner];
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
