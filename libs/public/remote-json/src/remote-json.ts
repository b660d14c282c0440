import { fetchDocument, type Held, toRemoteJsonError } from './fetch-document.ts';
import { type RemoteJsonOptions, type RemoteJsonSeed, requireLimits, requireUrl } from './options.ts';
import { RemoteJsonError } from './remote-json-error.ts';

export { readBounded } from './fetch-document.ts';
export type { Answer, RemoteJsonOptions, RemoteJsonSeed } from './options.ts';
export { RemoteJsonError, type RemoteJsonErrorCode } from './remote-json-error.ts';

const RENEW_AFTER = 0.8;

function heldFrom<T>(seed: RemoteJsonSeed<T>, options: RemoteJsonOptions<T>, now: number): Held<T> {
  const { document } = seed;
  const ageMs = seed.ageSeconds * 1000;
  const usableMs = options.usableMs?.(document) ?? Number.POSITIVE_INFINITY;
  const freshMs = Math.min(seed.freshSeconds * 1000, options.freshSeconds * 1000, ageMs + usableMs);
  return { document, fetchedAt: now - ageMs, freshMs, endsAt: now + usableMs };
}

/**
 * Caches one remote JSON document: concurrent loads are coalesced, it is renewed before it expires, there is a cool-down after every
 * fetch, and a stale document is served for a bounded time while its URL fails. It never follows redirects and starts no timer:
 * nothing is fetched unless a caller asks.
 * @throws {TypeError} invalid options.
 */
export function createRemoteJson<T>(options: RemoteJsonOptions<T>) {
  const url = requireUrl(options);
  requireLimits(options);
  const now = options.now ?? (() => performance.now());
  const coolDownMs = options.coolDownSeconds * 1000;
  const staleMs = options.staleSeconds * 1000;
  const sharesFetches = options.sharesFetches ?? globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

  let held = options.seed && heldFrom(options.seed, options, now());
  let failure: RemoteJsonError | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<void> | undefined;
  let isClosed = false;
  const underWay = new Set<AbortController>();

  const age = (of: Held<T>): number => now() - of.fetchedAt;
  const isCooling = (): boolean => now() - triedAt < coolDownMs;

  const fetchOnce = async (): Promise<void> => {
    const abandon = new AbortController();
    underWay.add(abandon);
    try {
      held = await fetchDocument(url, options, now, abandon.signal);
      failure = undefined;
      options.onFetched?.(held.document, held.freshMs / 1000);
    } catch (error) {
      failure = toRemoteJsonError(error, url, isClosed);
    } finally {
      underWay.delete(abandon);
      triedAt = now();
    }
  };

  const renew = (): Promise<void> => {
    if (!sharesFetches) return fetchOnce();
    inFlight ??= fetchOnce().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };

  const usable = (): T => {
    if (isClosed) throw new RemoteJsonError('closed', `${url.origin}: closed`);
    if (held !== undefined && age(held) < held.freshMs + staleMs && now() < held.endsAt) return held.document;
    throw failure ?? new RemoteJsonError('unreachable', `${url.origin}: the document is too old`);
  };

  const renewUnlessCooling = async (): Promise<T> => {
    if (!isClosed && (inFlight !== undefined || !isCooling())) await renew();
    return usable();
  };

  /**
   * Fetches now, regardless of the cool-down, or waits for the fetch in progress.
   * @throws {RemoteJsonError} the fetch failed. The last good document stays in use.
   */
  const reload = async (): Promise<T> => {
    if (!isClosed) await renew();
    if (failure !== undefined) throw failure;
    return usable();
  };

  const peek = (): T | undefined => {
    if (held === undefined || isClosed) return undefined;
    const elapsed = age(held);
    if (elapsed >= held.freshMs) return undefined;
    if (sharesFetches && elapsed >= held.freshMs * RENEW_AFTER && !isCooling()) void renew();
    return held.document;
  };

  return {
    /** The document if it is fresh, without waiting. */
    peek,
    /**
     * The document, fetched if there is none or it is stale. In the last fifth of its lifetime it is returned at once and renewed in
     * the background. While the URL fails, the last good document is returned for `staleSeconds` more.
     * @throws {RemoteJsonError} no document, or it is too old.
     */
    get: async (): Promise<T> => peek() ?? renewUnlessCooling(),
    /**
     * Fetches again, because the document lacks something, at most once per cool-down. During the cool-down, and if the fetch fails, it
     * returns the same object as before.
     * @throws {RemoteJsonError} as `get`.
     */
    refresh: renewUnlessCooling,
    reload,
    /**
     * The last good document as long as `get` returns it while the URL fails, for callers that cannot wait for `get`.
     * @throws {RemoteJsonError} as `get`.
     */
    held: usable,
    /** Whether the last fetch failed. */
    isFailing: (): boolean => failure !== undefined,
    /** Seconds since the document was last fetched; NaN before the first time. */
    ageSeconds: (): number => (held === undefined ? Number.NaN : age(held) / 1000),
    /** Aborts a fetch in progress; `get`, `refresh` and `reload` throw from now on. */
    close(): void {
      isClosed = true;
      for (const abandon of underWay) abandon.abort();
    },
  };
}

export type RemoteJson<T> = ReturnType<typeof createRemoteJson<T>>;
