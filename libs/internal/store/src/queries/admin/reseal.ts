import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import type { KekOwner, KekRing } from '../../sealing/kek-ring.ts';
import { sealedPrefix } from '../../sealing/seal.ts';
import { RESEAL_BATCH, type ResealProgress, type ResealReport, resealRows } from './reseal-rows.ts';
import { SEALED_TABLES } from './sealed-tables.ts';

export type { ResealProgress, ResealReport } from './reseal-rows.ts';

/**
 * Re-seals every text of a service under the first key of the ring, those of withdrawn keys too; see {@link resealRows}.
 *
 * @param onProgress called after each batch
 */
export async function resealTable(
  { kysely }: Database,
  owner: KekOwner,
  { ring, onProgress }: { readonly ring: KekRing; readonly onProgress?: (progress: ResealProgress) => void },
): Promise<ResealReport> {
  const { contextOf, ...place } = SEALED_TABLES[owner];
  const [table, column, holder] = [sql.table(place.table), sql.ref(place.column), sql.ref(place.holder)];
  const idType = sql.raw(place.idType);
  const kek = owner === 'signer' ? sql`, kek = ${ring.primary.kid}` : sql``;
  const isFresh = sql`starts_with(${column}, ${sealedPrefix(ring.primary.kid)})`;
  return await resealRows(
    {
      async count() {
        const { rows } = await sql<{ total: string; fresh: string }>`
          select count(*) as total, count(*) filter (where ${isFresh}) as fresh from ${table}`.execute(
          kysely,
        );
        return { total: Number(rows[0]?.total), fresh: Number(rows[0]?.fresh) };
      },
      async next(after) {
        const { rows } = await sql<{ id: string; holder: string; sealed: string }>`
          select id, ${holder} as holder, ${column} as sealed from ${table}
          where not ${isFresh} ${after === undefined ? sql`` : sql`and id > ${after}::${idType}`}
          order by id limit ${RESEAL_BATCH}`.execute(kysely);
        return rows.map((row) => ({ id: row.id, sealed: row.sealed, context: contextOf(row) }));
      },
      async replace(resealed) {
        const columns = (['id', 'former', 'fresh'] as const).map((name) => resealed.map((row) => row[name]));
        await sql`
          update ${table} as t set ${sql.ref(place.column)} = v.fresh${kek}
          from unnest(${columns[0]}::${idType}[], ${columns[1]}::text[], ${columns[2]}::text[]) as v(id, former, fresh)
          where t.id = v.id and t.${sql.ref(place.column)} = v.former`.execute(kysely);
      },
    },
    ring,
    onProgress,
  );
}
