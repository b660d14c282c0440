import type { KekRing } from '../../sealing/kek-ring.ts';
import { reseal, type SealContext, sealedUnder } from '../../sealing/seal.ts';
import { SealingError } from '../../sealing/sealing-error.ts';

export const RESEAL_BATCH = 100;

export interface ResealReport {
  readonly resealed: number;
  /** Under the ring's first key already. */
  readonly kept: number;
  /** Row ids that this ring and home do not open; left as they are. */
  readonly failed: string[];
}

export interface SealedRow {
  readonly id: string;
  readonly sealed: string;
  readonly context: SealContext;
}

/** One table that holds sealed texts. */
export interface SealedRows {
  /** At most `RESEAL_BATCH` rows by id, after the one given. */
  next(after: string | undefined): Promise<SealedRow[]>;
  /** Sets the text anew, when it still is the former one. */
  replace(id: string, former: string, fresh: string): Promise<void>;
}

/**
 * Seals every text anew under the ring's first key, so that a KEK can be taken out of the ring. May run beside
 * everything else, and again after it broke off: a row is replaced only when it is as it was read.
 */
export async function resealRows(
  rows: SealedRows,
  ring: KekRing,
  onProgress: (done: number) => void = () => {},
): Promise<ResealReport> {
  const failed: string[] = [];
  let resealed = 0;
  let kept = 0;
  let after: string | undefined;
  for (;;) {
    const batch = await rows.next(after);
    for (const { id, sealed, context } of batch) {
      after = id;
      try {
        if (sealedUnder(sealed) === ring.primary.kid) {
          kept++;
          continue;
        }
        await rows.replace(id, sealed, await reseal(ring, sealed, context));
        resealed++;
      } catch (error) {
        if (!(error instanceof SealingError)) throw error;
        failed.push(id);
      }
    }
    onProgress(resealed + kept + failed.length);
    if (batch.length < RESEAL_BATCH) return { resealed, kept, failed };
  }
}
