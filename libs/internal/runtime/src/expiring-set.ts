const KEYS_MAX = 1_000_000;

/**
 * Keeps each key for the same time, in this process.
 *
 * @param now milliseconds, of a monotonic clock
 */
export function createExpiringSet(keptMs: number, now: () => number = performance.now.bind(performance)) {
  // In the order of their expiry.
  const expiries = new Map<string, number>();
  return {
    /** Whether the key was added: false while it is kept. @throws Error if a million keys are kept */
    add(key: string): boolean {
      const at = now();
      for (const [kept, expiry] of expiries) {
        if (expiry > at) break;
        expiries.delete(kept);
      }
      if (expiries.has(key)) return false;
      if (expiries.size >= KEYS_MAX) throw new Error(`the memory is full with ${KEYS_MAX} keys`);
      expiries.set(key, at + keptMs);
      return true;
    },
  };
}
