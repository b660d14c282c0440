import { LRUCache } from 'lru-cache';

export interface ShortMemoryOptions<K, V> {
  /** How long an answer stands, counted from the question. */
  readonly ttlMs: number;
  readonly entriesMax: number;
  ask(key: K): Promise<V>;
  /** Told of every look-up, for the metrics. */
  onLookup?(hit: boolean): void;
}

/**
 * Answers of the outside, kept for a moment: single flight per key; a failure is not kept, and whoever was waiting for
 * the same answer shares it.
 *
 * @returns the look-up
 */
export function shortMemory<K extends string, V extends object>(
  options: ShortMemoryOptions<K, V>,
): (key: K) => V | Promise<V> {
  const { ttlMs, entriesMax, ask, onLookup } = options;
  const known = new LRUCache<K, V>({ max: entriesMax, ttl: ttlMs });
  const underWay = new Map<K, Promise<V>>();

  async function find(key: K): Promise<V> {
    const start = performance.now();
    try {
      // Deferred, so that also a question that throws at once is noted before it is forgotten.
      const answer = await Promise.resolve(key).then(ask);
      known.set(key, answer, { start });
      return answer;
    } finally {
      underWay.delete(key);
    }
  }

  return (key) => {
    const answer = known.get(key);
    onLookup?.(answer !== undefined);
    if (answer !== undefined) return answer;
    const asked = underWay.get(key) ?? find(key);
    underWay.set(key, asked);
    return asked;
  };
}
