import type { KekRing } from '../../sealing/kek-ring.ts';
import { reseal, type SealContext } from '../../sealing/seal.ts';
import { SealingError } from '../../sealing/sealing-error.ts';

export const RESEAL_BATCH = 1000;
/** Batches that are written at a time, besides the one that is read. */
const WRITERS = 2;

export interface ResealReport {
  readonly resealed: number;
  /** Already sealed under the first key of the ring. */
  readonly kept: number;
  /** Ids of rows that this ring does not open; left unchanged. */
  readonly failed: string[];
}

interface SealedRow {
  readonly id: string;
  readonly sealed: string;
  readonly context: SealContext;
}

interface ResealedRow {
  readonly id: string;
  readonly former: string;
  readonly fresh: string;
}

export interface SealedRows {
  /** All rows, and how many of them are certainly under the ring's first key; `next` may leave these out. */
  count(): Promise<{ readonly total: number; readonly fresh: number }>;
  /** At most `RESEAL_BATCH` rows by id, after the given one. */
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
 * Re-seals every text under the first key of the ring, so that another KEK can be removed from it. Safe to run while
 * the services run, and to repeat after an interruption: a row is replaced only if it is unchanged since it was read.
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
