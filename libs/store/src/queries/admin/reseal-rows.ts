import type { KekRing } from '../../sealing/kek-ring.ts';
import { reseal, type SealContext, sealedUnder } from '../../sealing/seal.ts';
import { SealingError } from '../../sealing/sealing-error.ts';

export const RESEAL_BATCH = 1000;

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

export interface ResealedRow {
  readonly id: string;
  readonly former: string;
  readonly fresh: string;
}

/** One table that holds sealed texts. */
export interface SealedRows {
  count(): Promise<number>;
  /** At most `RESEAL_BATCH` rows by id, after the one given. */
  next(after: string | undefined): Promise<SealedRow[]>;
  /** Replaces each text if it is unchanged, in one statement. */
  replace(rows: readonly ResealedRow[]): Promise<void>;
}

export interface ResealProgress {
  readonly done: number;
  readonly total: number;
  readonly rowsPerSecond: number;
  readonly secondsLeft: number;
}

/**
 * Reseals every text under the ring's first key, so that a KEK can be taken out of the ring. May run beside
 * everything else, and again after it broke off: a row is replaced only when it is as it was read.
 */
export async function resealRows(
  rows: SealedRows,
  ring: KekRing,
  onProgress: (progress: ResealProgress) => void = () => {},
): Promise<ResealReport> {
  const failed: string[] = [];
  let resealed = 0;
  let kept = 0;
  const start = performance.now();
  const total = await rows.count();
  let reading = rows.next(undefined);
  for (;;) {
    const batch = await reading;
    const last = batch.length < RESEAL_BATCH;
    // The next batch is read while this one is sealed and written.
    reading = last ? Promise.resolve([]) : rows.next(batch.at(-1)?.id);
    const outcomes = await Promise.all(batch.map((row) => resealOne(row, ring)));
    const fresh = outcomes.filter((outcome) => typeof outcome === 'object');
    if (fresh.length > 0) await Promise.all([rows.replace(fresh), reading]);
    resealed += fresh.length;
    kept += outcomes.filter((outcome) => outcome === 'kept').length;
    failed.push(...batch.filter((_, index) => outcomes[index] === 'failed').map(({ id }) => id));
    const done = resealed + kept + failed.length;
    const rowsPerSecond = (done * 1000) / (performance.now() - start);
    onProgress({ done, total, rowsPerSecond, secondsLeft: Math.max(0, total - done) / rowsPerSecond });
    if (last) return { resealed, kept, failed };
  }
}

async function resealOne(
  { id, sealed, context }: SealedRow,
  ring: KekRing,
): Promise<ResealedRow | 'kept' | 'failed'> {
  try {
    if (sealedUnder(sealed) === ring.primary.kid) return 'kept';
    return { id, former: sealed, fresh: await reseal(ring, sealed, context) };
  } catch (error) {
    if (error instanceof SealingError) return 'failed';
    throw error;
  }
}
