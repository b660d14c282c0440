import type { RemoteJsonOptions } from './options.ts';
import { RemoteJsonError } from './remote-json-error.ts';

/** A document, and how long it is fresh. */
export interface Held<T> {
  readonly document: T;
  readonly fetchedAt: number;
  readonly freshMs: number;
  /** When it may not be used any more, fresh or not. */
  readonly endsAt: number;
}

/** Fetches once; shared caches are to revalidate with the origin (RFC 9111, section 5.2.1.4). */
export async function fetchDocument<T>(
  url: URL,
  options: RemoteJsonOptions<T>,
  now: () => number,
  abandoned: AbortSignal,
): Promise<Held<T>> {
  const fetchedAt = now();
  const signal = AbortSignal.any([abandoned, AbortSignal.timeout(options.timeoutMs)]);
  const response = await (options.fetch ?? globalThis.fetch)(url, {
    redirect: 'manual',
    headers: { accept: 'application/json', 'cache-control': 'no-cache' },
    signal,
  });
  try {
    requireAnswer(response, url);
    const { headers } = response;
    const bytes = await readBounded(response, options.bytesMax, url);
    const document = expected(() => options.parse(decode(bytes), { headers, bytes }), url);
    const usableMs = options.usableMs?.(document) ?? Number.POSITIVE_INFINITY;
    const freshMs = Math.min(freshSeconds(headers, options) * 1000, usableMs);
    return { document, fetchedAt, freshMs, endsAt: now() + usableMs };
  } finally {
    if (!response.bodyUsed) void response.body?.cancel().catch(() => undefined);
  }
}

function requireAnswer(response: Response, url: URL): void {
  const { status } = response;
  if (response.redirected || response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new RemoteJsonError('redirected', `${placeOf(url)}: redirects are not followed`);
  }
  if (status !== 200) throw new RemoteJsonError('bad_status', `${placeOf(url)}: expected 200, got ${status}`);
}

/** The whole body. @throws {RemoteJsonError} `too_large` */
export async function readBounded(response: Response, bytesMax: number, url: URL): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > bytesMax) {
      throw new RemoteJsonError('too_large', `${placeOf(url)}: the document exceeds ${bytesMax} bytes`);
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

function decode(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

function expected<T>(read: () => T, url: URL): T {
  try {
    return read();
  } catch (error) {
    throw new RemoteJsonError('unreadable', `${placeOf(url)}: not the expected document`, { cause: error });
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

/** The address for messages: without the query, which may contain a secret. */
function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

export function toRemoteJsonError(error: unknown, url: URL, isClosed: boolean): RemoteJsonError {
  if (error instanceof RemoteJsonError) return error;
  if (isClosed) return new RemoteJsonError('closed', `${placeOf(url)}: closed during the fetch`);
  return error instanceof Error && error.name === 'TimeoutError'
    ? new RemoteJsonError('timed_out', `${placeOf(url)}: timed out`, { cause: error })
    : new RemoteJsonError('unreachable', `${placeOf(url)}: no answer`, { cause: error });
}
