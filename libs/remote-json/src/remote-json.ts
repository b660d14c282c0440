/** What went wrong with the last fetch of a remote document. */
export type RemoteJsonErrorCode =
  | 'unreachable'
  | 'timed_out'
  | 'redirected'
  | 'bad_status'
  | 'too_large'
  | 'unreadable'
  | 'closed';

/** The document could not be had; `code` says why, `cause` is for the log. */
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
  /** Judges the decoded JSON; whatever it throws makes the fetch a failed one. */
  parse: (value: unknown) => T;
  /** Longest time a document is used without asking again; a shorter `max-age` of the answer wins. */
  freshSeconds: number;
  /** How long past that it may still serve while the address fails; 0 for not at all. */
  staleSeconds: number;
  /** Shortest time between two fetches, whether the first one succeeded or failed. */
  coolDownSeconds: number;
  /** Limit for one fetch from connecting to the last byte. */
  timeoutMs: number;
  /** Longest body read, after content decoding. */
  bytesMax: number;
  /** Has caches on the way ask the origin each time (RFC 9111, section 5.2.1.4). */
  pastCaches?: boolean;
  /** Permits plain http to any host: whoever sits on that network then chooses the document. */
  allowPlainHttp?: boolean;
  fetch?: typeof globalThis.fetch;
  /** Milliseconds on a clock that does not step; `performance.now` by default. */
  now?: () => number;
  /**
   * Whether callers may wait for a fetch that another one began; true by default, but for Cloudflare's workerd, where a request may
   * not wait for what another one does: there each caller fetches, and nothing is renewed behind an answer.
   */
  sharesFetches?: boolean;
}

export interface RemoteJson<T> {
  /**
   * The document, fetched when there is none or it is no longer fresh. One that is in the last fifth of its
   * freshness is returned at once and renewed behind it. While the address fails, the last good one serves for
   * `staleSeconds` more.
   * @throws {RemoteJsonError} no document, or it is too old to serve.
   */
  get(): Promise<T>;
  /** The document when it is fresh and at hand, without waiting for anything. */
  peek(): T | undefined;
  /**
   * Asks again because the document lacks something, at most once per cool-down; within it, and when asking fails,
   * the document at hand is returned, the very same object.
   * @throws {RemoteJsonError} as `get`.
   */
  refresh(): Promise<T>;
  /**
   * Asks now, cool-down or not; only a fetch that is under way already is not repeated.
   * @throws {RemoteJsonError} the fetch failed. The last good document goes on serving as it would have.
   */
  reload(): Promise<T>;
  /** Abandons a fetch under way and refuses every later one. */
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
 * Keeps one remote JSON document at hand: single flight, renewed before it expires, a cool-down after failure as
 * after success, served stale for a bounded time while its address fails. Never follows a redirect. It starts no
 * timer: nothing is fetched unless somebody asks.
 * @throws {TypeError} options that cannot work.
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
    if (isClosed) throw new RemoteJsonError('closed', `${url.origin}: no longer in use`);
    if (held !== undefined && age(held) < held.freshMs + staleMs) return held.document;
    throw failure ?? new RemoteJsonError('unreachable', `${url.origin}: the document is too old to serve`);
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
    throw new RemoteJsonError('unreadable', `${url.origin}: not the document expected`, { cause: error });
  }
}

/** RFC 9111: what is left of `max-age` after the time the answer already spent in caches. */
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
  if (isClosed) return new RemoteJsonError('closed', `${url.origin}: the fetch was abandoned`);
  return error instanceof Error && error.name === 'TimeoutError'
    ? new RemoteJsonError('timed_out', `${url.origin}: no whole answer in time`, { cause: error })
    : new RemoteJsonError('unreachable', `${url.origin}: no answer`, { cause: error });
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function requireUrl({ url, allowPlainHttp }: RemoteJsonOptions<unknown>): URL {
  const parsed = new URL(url);
  const isPlain = parsed.protocol === 'http:' && (allowPlainHttp === true || LOOPBACK.test(parsed.hostname));
  if (parsed.protocol !== 'https:' && !isPlain) {
    throw new TypeError(`url: expected https, or http to a loopback address, got ${parsed.origin}`);
  }
  if (parsed.username !== '' || parsed.password !== '') throw new TypeError('url: must not hold credentials');
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
