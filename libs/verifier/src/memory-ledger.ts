/** The spent proofs of one intern: every id once, whatever its timestamp, and a list per second for forgetting them. */
export interface Ledger {
  /** Unix seconds: something stamped then was forgotten, and everything up to it is refused for ever. */
  readonly floor: number;
  /** Unix seconds: the highest timestamp ever spent. */
  readonly highest: number;
  /** The time from which on version 2 spends record their version 1 id too; undefined while nobody asked for it. */
  marksFrom: number | undefined;
  /**
   * Forgets what is stamped up to `horizon` and was recorded up to `recordedMs` on the clock that never steps: a wall clock that is
   * ahead for a moment makes nothing forgotten. Returns how many entries that were.
   */
  forget(horizon: number, recordedMs: number): number;
  has(ids: readonly string[]): boolean;
  /** How many of the ids were new. */
  add(timestamp: number, ids: readonly string[], uptimeMs: number): number;
}

interface Second {
  readonly ids: string[];
  lastRecordedMs: number;
}

export function createLedger(): Ledger {
  const spent = new Set<string>();
  const stamped = new Map<number, Second>();
  let floor = -1;
  let highest = -1;
  let lookedFor = -1;

  return {
    marksFrom: undefined,

    get floor() {
      return floor;
    },

    get highest() {
      return highest;
    },

    forget(horizon, recordedMs) {
      if (horizon === lookedFor) return 0;
      lookedFor = horizon;
      const before = spent.size;
      for (const [timestamp, { ids, lastRecordedMs }] of stamped) {
        if (timestamp > horizon || lastRecordedMs > recordedMs) continue;
        floor = Math.max(floor, timestamp);
        for (const id of ids) spent.delete(id);
        stamped.delete(timestamp);
      }
      return before - spent.size;
    },

    has: (ids) => ids.some((id) => spent.has(id)),

    add(timestamp, ids, uptimeMs) {
      const second = stamped.get(timestamp) ?? { ids: [], lastRecordedMs: uptimeMs };
      if (second.ids.length === 0) stamped.set(timestamp, second);
      second.lastRecordedMs = uptimeMs;
      highest = Math.max(highest, timestamp);
      const before = spent.size;
      for (const id of ids) {
        if (spent.has(id)) continue;
        spent.add(id);
        second.ids.push(id);
      }
      return spent.size - before;
    },
  };
}
