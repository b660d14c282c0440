/** What went wrong with the last fetch of a remote document. */
export type RemoteJsonErrorCode =
  | 'unreachable'
  | 'timed_out'
  | 'redirected'
  | 'bad_status'
  | 'too_large'
  | 'unreadable'
  | 'closed';

/** The document could not be fetched; `code` says why, `cause` is for the log. */
export class RemoteJsonError extends Error {
  readonly code: RemoteJsonErrorCode;

  constructor(code: RemoteJsonErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RemoteJsonError';
    this.code = code;
  }
}

export interface RemoteJsonOptions<T> {
  /** https, or plain http to a loopback address. */
  url: string | URL;
  /** Validates the decoded JSON. If it throws, the fetch has failed. */
  parse: (value: unknown) => T;
  /** How long a document is used before it is fetched again; a shorter `max-age` wins. */
  freshSeconds: number;
  /** How much longer it is used while the URL fails; 0 to disable. */
  staleSeconds: number;
  /** Minimum time between two fetches, successful or not. */
  coolDownSeconds: number;
  /** Limit for one fetch from connecting to the last byte. */
  timeoutMs: number;
  /** Maximum size of the body after content decoding. */
  bytesMax: number;
  /** Makes caches on the way ask the origin each time (RFC 9111, section 5.2.1.4). */
  pastCaches?: boolean;
  /** Allows http to any host: anyone on that network can then replace the document. */
  allowPlainHttp?: boolean;
  fetch?: typeof globalThis.fetch;
  /** Milliseconds of a monotonic clock; `performance.now` by default. */
  now?: () => number;
  /**
   * Whether callers may wait for a fetch that another caller started. True by default except on Cloudflare's workerd, where a request
   * cannot wait for another one's I/O: there each caller fetches, and nothing is renewed in the background.
   */
  sharesFetches?: boolean;
}

export interface RemoteJson<T> {
  /**
   * The document, fetched if there is none or it is stale. In the last fifth of its lifetime it is returned at once and renewed in
   * the background. While the URL fails, the last good document is returned for `staleSeconds` more.
   * @throws {RemoteJsonError} no document, or it is too old.
   */
  get(): Promise<T>;
  /** The document if it is fresh, without waiting. */
  peek(): T | undefined;
  /**
   * Fetches again because the document lacks something, at most once per cool-down. During the cool-down, and if the fetch fails, it
   * returns the same object as before.
   * @throws {RemoteJsonError} as `get`.
   */
  refresh(): Promise<T>;
  /**
   * Fetches now, regardless of the cool-down, or waits for the fetch in progress.
   * @throws {RemoteJsonError} the fetch failed. The last good document stays in use.
   */
  reload(): Promise<T>;
  /** Aborts a fetch in progress, and every later call throws. */
  close(): void;
}

interface Held<T> {
  readonly document: T;
  /** Sent as `If-None-Match`, so that an unchanged document costs no body. */
  readonly etag: string | null;
  readonly fetchedAt: number;
  readonly freshMs: number;
}

const RENEW_AFTER = 0.8;

/**
 * Caches one remote JSON document: concurrent loads are coalesced, it is renewed before it expires, there is a cool-down after every
 * fetch, and a stale document is served for a bounded time while its URL fails. It never follows redirects and starts no timer:
 * nothing is fetched unless a caller asks.
 * @throws {TypeError} invalid options.
 */
export function createRemoteJson<T>(options: RemoteJsonOptions<T>): RemoteJson<T> {
  const url = requireUrl(options);
  requireLimits(options);
  const now = options.now ?? (() => performance.now());
  const coolDownMs = options.coolDownSeconds * 1000;
  const staleMs = options.staleSeconds * 1000;
  const sharesFetches = options.sharesFetches ?? globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

  let held: Held<T> | undefined;
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
      held = await fetchDocument(url, options, now, abandon.signal, held);
      failure = undefined;
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
    if (held !== undefined && age(held) < held.freshMs + staleMs) return held.document;
    throw failure ?? new RemoteJsonError('unreachable', `${url.origin}: the document is too old`);
  };

  const renewUnlessCooling = async (): Promise<T> => {
    if (!isClosed && (inFlight !== undefined || !isCooling())) await renew();
    return usable();
  };

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
    peek,
    get: async () => peek() ?? renewUnlessCooling(),
    refresh: renewUnlessCooling,
    reload,
    close() {
      isClosed = true;
      for (const abandon of underWay) abandon.abort();
    },
  };
}

async function fetchDocument<T>(
  url: URL,
  options: RemoteJsonOptions<T>,
  now: () => number,
  abandoned: AbortSignal,
  former: Held<T> | undefined,
): Promise<Held<T>> {
  const fetchedAt = now();
  const signal = AbortSignal.any([abandoned, AbortSignal.timeout(options.timeoutMs)]);
  const response = await (options.fetch ?? globalThis.fetch)(url, {
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...(former?.etag && { 'if-none-match': former.etag }),
      ...(options.pastCaches && { 'cache-control': 'no-cache' }),
    },
    signal,
  });
  try {
    const freshMs = freshSeconds(response.headers, options) * 1000;
    if (former?.etag && response.status === 304) return { ...former, fetchedAt, freshMs };
    requireAnswer(response, url);
    const bytes = await readBounded(response, options.bytesMax, url);
    const document = decode(bytes, options.parse, url);
    return { document, etag: response.headers.get('etag'), fetchedAt, freshMs };
  } finally {
    if (!response.bodyUsed) void response.body?.cancel().catch(() => undefined);
  }
}

function requireAnswer(response: Response, url: URL): void {
  const { status } = response;
  if (response.redirected || response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new RemoteJsonError('redirected', `${url.origin}: redirects are not followed`);
  }
  if (status !== 200) throw new RemoteJsonError('bad_status', `${url.origin}: expected 200, got ${status}`);
}

async function readBounded(response: Response, bytesMax: number, url: URL): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > bytesMax) {
      throw new RemoteJsonError('too_large', `${url.origin}: the document exceeds ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

function decode<T>(bytes: Uint8Array, parse: (value: unknown) => T, url: URL): T {
  try {
    return parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch (error) {
    throw new RemoteJsonError('unreadable', `${url.origin}: not the expected document`, { cause: error });
  }
}

/** RFC 9111: `max-age`, minus the time that the answer already spent in caches. */
function freshSeconds(headers: Headers, options: RemoteJsonOptions<unknown>): number {
  const control = headers.get('cache-control')?.toLowerCase() ?? '';
  const directives = control.split(',').map((directive) => directive.trim());
  const least = Math.min(options.coolDownSeconds, options.freshSeconds);
  if (directives.includes('no-store') || directives.includes('no-cache')) return least;
  const maxAge = /^max-age="?(\d{1,9})"?$/.exec(directives.find((d) => d.startsWith('max-age=')) ?? '')?.[1];
  if (maxAge === undefined) return options.freshSeconds;
  const spent = /^\s*(\d{1,9})\s*$/.exec(headers.get('age') ?? '')?.[1] ?? '0';
  return Math.min(options.freshSeconds, Math.max(least, Number(maxAge) - Number(spent)));
}

function toRemoteJsonError(error: unknown, url: URL, isClosed: boolean): RemoteJsonError {
  if (error instanceof RemoteJsonError) return error;
  if (isClosed) return new RemoteJsonError('closed', `${url.origin}: closed during the fetch`);
  return error instanceof Error && error.name === 'TimeoutError'
    ? new RemoteJsonError('timed_out', `${url.origin}: timed out`, { cause: error })
    : new RemoteJsonError('unreachable', `${url.origin}: no answer`, { cause: error });
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function requireUrl({ url, allowPlainHttp }: RemoteJsonOptions<unknown>): URL {
  const parsed = new URL(url);
  const isPlain = parsed.protocol === 'http:' && (allowPlainHttp === true || LOOPBACK.test(parsed.hostname));
  if (parsed.protocol !== 'https:' && !isPlain) {
    throw new TypeError(`url: expected https, or http to a loopback address, got ${parsed.origin}`);
  }
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError('url: must not contain credentials');
  return parsed;
}

function requireLimits(options: RemoteJsonOptions<unknown>): void {
  for (const name of ['freshSeconds', 'coolDownSeconds', 'timeoutMs', 'bytesMax'] as const) {
    const value = options[name];
    if (!(Number.isFinite(value) && value > 0)) throw new TypeError(`${name}: expected a number above 0`);
  }
  if (!(Number.isFinite(options.staleSeconds) && options.staleSeconds >= 0)) {
    throw new TypeError('staleSeconds: expected 0 or more');
  }
  if (typeof options.parse !== 'function') throw new TypeError('parse: expected a function');
}
