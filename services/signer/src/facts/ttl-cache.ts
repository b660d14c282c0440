import { LRUCache } from 'lru-cache';

export interface TtlCacheOptions<V> {
  /** Milliseconds for which a value is served, counted from the start of its load. */
  readonly ttlMs: number;
  readonly entriesMax: number;
  load(key: string): Promise<V>;
  /** Called for every lookup, for the metrics. */
  onLookup?(hit: boolean): void;
}

/**
 * A TTL cache that coalesces concurrent loads. A failed load rejects for everyone waiting for it, and is not kept.
 *
 * @returns the lookup function. It returns a cached value directly, which saves the hot path a promise
 */
export function createTtlCache<V extends object>(
  options: TtlCacheOptions<V>,
): (key: string) => V | Promise<V> {
  const { ttlMs, entriesMax, load, onLookup } = options;
  const entries = new LRUCache<string, V>({
    // Of `max`, it allocates all at once: 7 ms of every start.
    maxSize: entriesMax,
    sizeCalculation: () => 1,
    ttl: ttlMs,
    ttlResolution: 0,
    // An entry that is evicted while it loads still resolves for its waiters.
    ignoreFetchAbort: true,
    async fetchMethod(key, _stale, { options: entry }) {
      const start = performance.now();
      const value = await load(key);
      // A load that took longer than the whole TTL is not served again; 0 would mean no expiry.
      entry.ttl = Math.max(Number.EPSILON, ttlMs - (performance.now() - start));
      return value;
    },
  });
  return (key) => {
    const value = entries.get(key);
    onLookup?.(value !== undefined);
    return value ?? entries.forceFetch(key);
  };
}
