import type { KekRing } from '../../sealing/kek-ring.ts';
import { reseal, type SealContext } from '../../sealing/seal.ts';
import { SealingError } from '../../sealing/sealing-error.ts';

export const RESEAL_BATCH = 1000;
/** Batches that are written at a time, besides the one that is read. */
const WRITERS = 2;

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
  /** All rows, and how many of them are certainly under the ring's first key; `next` may leave these out. */
  count(): Promise<{ readonly total: number; readonly fresh: number }>;
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
  const { total, fresh: atStart } = await rows.count();
  let kept = atStart;
  const start = performance.now();
  const advance = (batch: {
    readonly resealed: number;
    readonly kept: number;
    readonly failed: string[];
  }) => {
    resealed += batch.resealed;
    kept += batch.kept;
    failed.push(...batch.failed);
    const done = resealed + kept + failed.length;
    const rowsPerSecond = ((done - atStart) * 1000) / (performance.now() - start);
    const secondsLeft = total > done ? (total - done) / rowsPerSecond : 0;
    onProgress({ done, total, rowsPerSecond, secondsLeft });
  };
  const writing = new Set<Promise<void>>();
  // The next batch is read and sealed while the former ones are written.
  for (let after: string | undefined; ; ) {
    const [batch] = await Promise.all([rows.next(after), writing.size < WRITERS || Promise.race(writing)]);
    const outcomes = await Promise.all(batch.map((row) => resealOne(row, ring)));
    const fresh = outcomes.filter((outcome) => typeof outcome === 'object');
    const outcome = {
      resealed: fresh.length,
      kept: outcomes.filter((outcome) => outcome === 'kept').length,
      failed: batch.filter((_, index) => outcomes[index] === 'failed').map(({ id }) => id),
    };
    const written = (fresh.length === 0 ? Promise.resolve() : rows.replace(fresh)).then(() => {
      writing.delete(written);
      advance(outcome);
    });
    // A failure is thrown where it is awaited, above or below.
    written.catch(() => {});
    writing.add(written);
    if (batch.length < RESEAL_BATCH) break;
    after = batch.at(-1)?.id;
  }
  await Promise.all(writing);
  return { resealed, kept, failed: failed.sort() };
}

async function resealOne(
  { id, sealed, context }: SealedRow,
  ring: KekRing,
): Promise<ResealedRow | 'kept' | 'failed'> {
  try {
    const fresh = await reseal(ring, sealed, context);
    return fresh === sealed ? 'kept' : { id, former: sealed, fresh };
  } catch (error) {
    if (error instanceof SealingError) return 'failed';
    throw error;
  }
}
