const KEYS_MAX = 10_000;

/**
 * Counters that recently had no turn left, until their window ends: a hint about which counter to ask first, never a
 * verdict. Drops the oldest when there are too many.
 */
export function createExhaustedKeys(now: () => number = Date.now) {
  const until = new Map<string, number>();
  return {
    add(key: string, forMs: number): void {
      until.delete(key);
      until.set(key, now() + forMs);
      const [oldest] = until.keys();
      if (until.size > KEYS_MAX && oldest !== undefined) until.delete(oldest);
    },
    has: (key: string): boolean => (until.get(key) ?? 0) > now(),
  };
}
