import type { Database } from '../../database.ts';
import type { KekRing } from '../../sealing/kek-ring.ts';
import { reseal, sealedUnder } from '../../sealing/seal.ts';
import { SealingError } from '../../sealing/sealing-error.ts';
import { type SeedHome, seedContext } from '../../sealing/seed-context.ts';

const BATCH = 100;

export interface ResealReport {
  readonly resealed: number;
  /** Under the ring's first key already. */
  readonly kept: number;
  /** Row ids that this ring and home do not open; left as they are. */
  readonly failed: string[];
}

/**
 * Seals every seed anew under the ring's first key, retired ones too, so that a KEK can be taken out of the ring.
 * May run beside everything else, and again after it broke off: a row is replaced only when it is as it was read.
 */
export async function resealSigningKeys(
  db: Database,
  { ring, home }: { readonly ring: KekRing; readonly home: SeedHome },
): Promise<ResealReport> {
  const failed: string[] = [];
  let resealed = 0;
  let kept = 0;
  let after = '';
  for (;;) {
    const rows = await db.kysely
      .selectFrom('signing_keys')
      .select(['id', 'intern_id', 'sealed_seed'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH)
      .execute();
    for (const { id, intern_id, sealed_seed } of rows) {
      after = id;
      try {
        if (sealedUnder(sealed_seed) === ring.primary.kid) {
          kept++;
          continue;
        }
        const fresh = await reseal(ring, sealed_seed, seedContext({ id, internId: intern_id }, home));
        await replace(db, id, sealed_seed, fresh);
        resealed++;
      } catch (error) {
        if (!(error instanceof SealingError)) throw error;
        failed.push(id);
      }
    }
    if (rows.length < BATCH) return { resealed, kept, failed };
  }
}

async function replace(db: Database, id: string, former: string, fresh: string): Promise<void> {
  await db.kysely
    .updateTable('signing_keys')
    .set({ sealed_seed: fresh })
    .where('id', '=', id)
    .where('sealed_seed', '=', former)
    .execute();
}
