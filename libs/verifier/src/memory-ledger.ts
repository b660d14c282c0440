/** The spent proofs of one intern, in one bucket per second of their timestamps. */
export interface Ledger {
  /** Unix seconds: everything stamped up to then was forgotten, and is refused for ever. */
  readonly floor: number;
  /** The time from which on version 2 spends record their version 1 id too; undefined while nobody asked for it. */
  marksFrom: number | undefined;
  /** Forgets every bucket up to `horizon` and returns how many entries that were. */
  forget(horizon: number): number;
  has(timestamp: number, ids: readonly string[]): boolean;
  /** How many of the ids were new. */
  add(timestamp: number, ids: readonly string[]): number;
}

export function createLedger(): Ledger {
  const buckets = new Map<number, Set<string>>();
  let floor = -1;

  return {
    marksFrom: undefined,

    get floor() {
      return floor;
    },

    forget(horizon) {
      if (horizon <= floor) return 0;
      floor = horizon;
      let forgotten = 0;
      for (const [timestamp, bucket] of buckets) {
        if (timestamp > horizon) continue;
        forgotten += bucket.size;
        buckets.delete(timestamp);
      }
      return forgotten;
    },

    has(timestamp, ids) {
      const bucket = buckets.get(timestamp);
      return bucket !== undefined && ids.some((id) => bucket.has(id));
    },

    add(timestamp, ids) {
      const bucket = buckets.get(timestamp) ?? new Set();
      if (bucket.size === 0) buckets.set(timestamp, bucket);
      const before = bucket.size;
      for (const id of ids) bucket.add(id);
      return bucket.size - before;
    },
  };
}
