import type { Database } from '../../database.ts';
import type { KekRing } from '../../sealing/kek-ring.ts';
import { type SeedHome, seedContext } from '../../sealing/seed-context.ts';
import { RESEAL_BATCH, type ResealReport, resealRows } from './reseal-rows.ts';

export type { ResealReport } from './reseal-rows.ts';

export interface ResealOptions {
  readonly ring: KekRing;
  /** Called after each batch with how many rows were looked at. */
  readonly onProgress?: (done: number) => void;
}

/** Seals every seed anew under the ring's first key, retired ones too; see {@link resealRows}. */
export async function resealSigningKeys(
  db: Database,
  { ring, home, onProgress }: ResealOptions & { readonly home: SeedHome },
): Promise<ResealReport> {
  return await resealRows(
    {
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
      async replace(id, former, fresh) {
        await db.kysely
          .updateTable('signing_keys')
          .set({ sealed_seed: fresh })
          .where('id', '=', id)
          .where('sealed_seed', '=', former)
          .execute();
      },
    },
    ring,
    onProgress,
  );
}
