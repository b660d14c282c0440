import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import type { KekRing } from '../../sealing/kek-ring.ts';
import { type SeedHome, seedContext } from '../../sealing/seed-context.ts';
import {
  RESEAL_BATCH,
  type ResealedRow,
  type ResealProgress,
  type ResealReport,
  resealRows,
} from './reseal-rows.ts';

export type { ResealProgress, ResealReport } from './reseal-rows.ts';

export interface ResealOptions {
  readonly ring: KekRing;
  /** Called after each batch. */
  readonly onProgress?: (progress: ResealProgress) => void;
}

/** Re-seals every seed under the first key of the ring, including retired ones; see {@link resealRows}. */
export async function resealSigningKeys(
  db: Database,
  { ring, home, onProgress }: ResealOptions & { readonly home: SeedHome },
): Promise<ResealReport> {
  return await resealRows(
    {
      count: () => countRows(db, 'signing_keys'),
      async next(after = '') {
        const rows = await db.kysely
          .selectFrom('signing_keys')
          .select(['id', 'intern_id', 'sealed_seed'])
          .where('id', '>', after)
          .orderBy('id')
          .limit(RESEAL_BATCH)
          .execute();
        return rows.map(({ id, intern_id, sealed_seed }) => ({
          id,
          sealed: sealed_seed,
          context: seedContext({ id, internId: intern_id }, home),
        }));
      },
      async replace(resealed) {
        const { ids, former, fresh } = columnsOf(resealed);
        await sql`
          update signing_keys as k set sealed_seed = v.fresh
          from unnest(${ids}::text[], ${former}::text[], ${fresh}::text[]) as v(id, former, fresh)
          where k.id = v.id and k.sealed_seed = v.former`.execute(db.kysely);
      },
    },
    ring,
    onProgress,
  );
}

export async function countRows(db: Database, table: 'signing_keys' | 'byok_credentials'): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(*) as count from ${sql.table(table)}`.execute(
    db.kysely,
  );
  return Number(rows[0]?.count);
}

export function columnsOf(rows: readonly ResealedRow[]) {
  return {
    ids: rows.map(({ id }) => id),
    former: rows.map(({ former }) => former),
    fresh: rows.map(({ fresh }) => fresh),
  };
}
