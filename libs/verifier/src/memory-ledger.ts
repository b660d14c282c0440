/** The spent proofs of one intern, in one bucket per second of their timestamps. */
export interface Ledger {
  /** Unix seconds: everything stamped up to then was forgotten, and is refused for ever. */
  readonly floor: number;
  /** Forgets every bucket up to `horizon` and returns how many entries that were. */
  forget(horizon: number): number;
  /** The time from which on version 2 spends record their version 1 id too: that of the first call. */
  markFrom(seconds: number): number;
  /** How many entries it took to record this; 0 when it was there already. */
  addV1(timestamp: number, id: string): number;
  addV2(timestamp: number, nonce: string, v1Id: () => string): number;
}

/** Ids of the three kinds cannot meet: a nonce has 22 characters, a version 1 id 64, and a mark one more. */
export function createLedger(): Ledger {
  const buckets = new Map<number, Set<string>>();
  let floor = -1;
  let marksFrom: number | undefined;

  const bucketAt = (timestamp: number): Set<string> => {
    let bucket = buckets.get(timestamp);
    if (bucket === undefined) {
      bucket = new Set();
      buckets.set(timestamp, bucket);
    }
    return bucket;
  };

  return {
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

    markFrom(seconds) {
      marksFrom ??= seconds;
      return marksFrom;
    },

    addV1(timestamp, id) {
      const bucket = bucketAt(timestamp);
      if (bucket.has(id) || bucket.has(`m${id}`)) return 0;
      bucket.add(id);
      return 1;
    },

    addV2(timestamp, nonce, v1Id) {
      const bucket = bucketAt(timestamp);
      if (bucket.has(nonce)) return 0;
      if (marksFrom === undefined) {
        bucket.add(nonce);
        return 1;
      }
      const id = v1Id();
      if (bucket.has(id)) return 0;
      const before = bucket.size;
      bucket.add(nonce);
      bucket.add(`m${id}`);
      return bucket.size - before;
    },
  };
}
