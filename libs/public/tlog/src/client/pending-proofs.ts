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

/** Proofs that wait for the log, oldest first, in memory and in a store that survives a restart. */
export interface PendingProofs<Proof> {
  readonly all: readonly PendingProof<Proof>[];
  add(one: PendingProof<Proof>): void;
  remove(settled: ReadonlySet<PendingProof<Proof>>): void;
  /** Prepends what an earlier process saved. Does so once; after a failure nothing is saved. @throws as `Remembered` does, SyntaxError */
  load(): Promise<void>;
  /** @throws as `Remembered` does */
  save(): Promise<void>;
}

/** @param remembered absent: they are kept in memory only */
export function createPendingProofs<Proof>(remembered: Remembered | undefined): PendingProofs<Proof> {
  let all: PendingProof<Proof>[] = [];
  let state: 'new' | 'loaded' | 'failed' = 'new';
  let savedCount = 0;
  return {
    get all() {
      return all;
    },
    add: (one) => void all.push(one),
    remove(settled) {
      all = all.filter((one) => !settled.has(one));
    },
    async load() {
      if (state !== 'new') return;
      state = 'failed';
      const text = await remembered?.load();
      const former = text === undefined ? [] : (JSON.parse(text) as PendingProof<Proof>[]);
      all = [...former, ...all];
      savedCount = former.length;
      state = 'loaded';
    },
    async save() {
      if (remembered === undefined || state !== 'loaded' || (all.length === 0 && savedCount === 0)) return;
      savedCount = all.length;
      await remembered.save(JSON.stringify(all));
    },
  };
}
