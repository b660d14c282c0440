/** The spent proofs of one intern: every id once, whatever its timestamp, and a list per second for forgetting them. */
export interface Ledger {
  /** Unix seconds: everything stamped up to then was forgotten, and is refused for ever. */
  readonly floor: number;
  /** The time from which on version 2 spends record their version 1 id too; undefined while nobody asked for it. */
  marksFrom: number | undefined;
  /** Forgets everything stamped up to `horizon` and returns how many entries that were. */
  forget(horizon: number): number;
  has(ids: readonly string[]): boolean;
  /** How many of the ids were new. */
  add(timestamp: number, ids: readonly string[]): number;
}

export function createLedger(): Ledger {
  const spent = new Set<string>();
  const stamped = new Map<number, string[]>();
  let floor = -1;

  return {
    marksFrom: undefined,

    get floor() {
      return floor;
    },

    forget(horizon) {
      if (horizon <= floor) return 0;
      floor = horizon;
      const before = spent.size;
      for (const [timestamp, ids] of stamped) {
        if (timestamp > horizon) continue;
        for (const id of ids) spent.delete(id);
        stamped.delete(timestamp);
      }
      return before - spent.size;
    },

    has: (ids) => ids.some((id) => spent.has(id)),

    add(timestamp, ids) {
      const second = stamped.get(timestamp) ?? [];
      if (second.length === 0) stamped.set(timestamp, second);
      const before = spent.size;
      for (const id of ids) {
        if (spent.has(id)) continue;
        spent.add(id);
        second.push(id);
      }
      return spent.size - before;
    },
  };
}
