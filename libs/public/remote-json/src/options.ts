export interface RemoteJsonSeed<T> {
  readonly document: T;
  /** Seconds since it was fetched. */
  readonly ageSeconds: number;
  /** How long it was fresh then; `freshSeconds` limits it. */
  readonly freshSeconds: number;
}

/** What a document came with. */
export interface Answer {
  readonly headers: Headers;
  /** After content decoding. */
  readonly bytes: Uint8Array;
}

export interface RemoteJsonOptions<T> {
  /** https, or plain http to a loopback address. */
  url: string | URL;
  /** Validates the decoded JSON. If it throws, the fetch has failed. */
  parse: (value: unknown, answer: Answer) => T;
  /** How much longer the document may be used at most, in milliseconds. */
  usableMs?(document: T): number;
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
  /** A document that was fetched earlier, by another process. */
  seed?: RemoteJsonSeed<T> | undefined;
  /** Called after each successful fetch, with how long the document is fresh. */
  onFetched?(document: T, freshSeconds: number): void;
  /** Allows http to any host: anyone on that network can then replace the document. */
  allowPlainHttp?: boolean | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds of a monotonic clock; `performance.now` by default. */
  now?: (() => number) | undefined;
  /**
   * Whether callers may wait for a fetch that another caller started. True by default except on Cloudflare's workerd, where a request
   * cannot wait for another one's I/O: there each caller fetches, and nothing is renewed in the background.
   */
  sharesFetches?: boolean;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** @throws {TypeError} */
export function requireUrl({ url, allowPlainHttp }: RemoteJsonOptions<unknown>): URL {
  const parsed = new URL(url);
  const isPlain = parsed.protocol === 'http:' && (allowPlainHttp === true || LOOPBACK.test(parsed.hostname));
  if (parsed.protocol !== 'https:' && !isPlain) {
    throw new TypeError(`url: expected https, or http to a loopback address, got ${parsed.origin}`);
  }
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError('url: must not contain credentials');
  return parsed;
}

/** @throws {TypeError} */
export function requireLimits(options: RemoteJsonOptions<unknown>): void {
  for (const name of ['freshSeconds', 'coolDownSeconds', 'timeoutMs', 'bytesMax'] as const) {
    const value = options[name];
    if (!(Number.isFinite(value) && value > 0)) throw new TypeError(`${name}: expected a number above 0`);
  }
  if (!(Number.isFinite(options.staleSeconds) && options.staleSeconds >= 0)) {
    throw new TypeError('staleSeconds: expected 0 or more');
  }
  if (typeof options.parse !== 'function') throw new TypeError('parse: expected a function');
}
