import type { Remembered } from './remembered.ts';

/** An accepted proof that has not been found in the log yet. */
export interface PendingProof<Proof> {
  /** In hex. */
  readonly commitment: string;
  readonly proof: Proof;
  /** Unix seconds. */
  readonly acceptedAt: number;
  /** The time up to which the log was complete when it did not have the proof. */
  missedAt?: number;
}

/**
 * Proofs that wait for the log, oldest first, in memory and in a store that survives a restart.
 *
 * @param remembered absent: they are kept in memory only
 */
export function createPendingProofs<Proof>(remembered: Remembered | undefined) {
  let all: PendingProof<Proof>[] = [];
  let state: 'new' | 'loaded' | 'failed' = 'new';
  let savedCount = 0;
  return {
    get all(): readonly PendingProof<Proof>[] {
      return all;
    },
    add: (one: PendingProof<Proof>) => void all.push(one),
    remove(settled: ReadonlySet<PendingProof<Proof>>): void {
      all = all.filter((one) => !settled.has(one));
    },
    /** Prepends what an earlier process saved. Does so once; after a failure nothing is saved. @throws as `Remembered` does, SyntaxError */
    async load(): Promise<void> {
      if (state !== 'new') return;
      state = 'failed';
      const text = await remembered?.load();
      const former = text === undefined ? [] : (JSON.parse(text) as PendingProof<Proof>[]);
      all = [...former, ...all];
      savedCount = former.length;
      state = 'loaded';
    },
    /** @throws as `Remembered` does */
    async save(): Promise<void> {
      if (remembered === undefined || state !== 'loaded' || (all.length === 0 && savedCount === 0)) return;
      savedCount = all.length;
      await remembered.save(JSON.stringify(all));
    },
  };
}
