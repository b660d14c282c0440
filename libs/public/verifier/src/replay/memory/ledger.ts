export function createLedger() {
  const spent = new Set<string>();
  const stamped = new Map<number, string[]>();
  let floor = -1;
  let highest = -1;
  let lookedFor = -1;

  return {
    /** The time from which version 2 spends also record their version 1 id; undefined until a verifier accepts version 1. */
    marksFrom: undefined as number | undefined,

    /** Unix seconds: the latest timestamp of a call whose answer is not kept. */
    unrecorded: -1,

    /** Unix seconds: the latest timestamp that was forgotten. Proofs with a timestamp up to it are refused. */
    get floor() {
      return floor;
    },

    /** Unix seconds: the highest timestamp ever spent. */
    get highest() {
      return highest;
    },

    /**
     * Forgets everything with a timestamp up to `horizon`, and returns how many entries that was. The floor rises only to what was
     * actually forgotten: a clock that is briefly ahead must not cause later proofs to be refused.
     */
    forget(horizon: number): number {
      if (horizon === lookedFor) return 0;
      lookedFor = horizon;
      const before = spent.size;
      for (const [timestamp, ids] of stamped) {
        if (timestamp > horizon) continue;
        floor = Math.max(floor, timestamp);
        for (const id of ids) spent.delete(id);
        stamped.delete(timestamp);
      }
      return before - spent.size;
    },

    has: (ids: readonly string[]) => ids.some((id) => spent.has(id)),

    /** How many of the ids were new. */
    add(timestamp: number, ids: readonly string[]): number {
      const second = stamped.get(timestamp) ?? [];
      if (second.length === 0) stamped.set(timestamp, second);
      highest = Math.max(highest, timestamp);
      const before = second.length;
      for (const id of ids) {
        const known = spent.size;
        if (spent.add(id).size > known) second.push(id);
      }
      return second.length - before;
    },
  };
}

/** The spent proofs of one intern: every id once, whatever its timestamp, and a list per second for expiring them. */
export type Ledger = ReturnType<typeof createLedger>;
