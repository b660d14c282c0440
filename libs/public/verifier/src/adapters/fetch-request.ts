import type { RequestHead } from '../request.ts';
import type { Arrival, Judgement } from './guard.ts';

/** `server` is what the server passes beside the request. */
export function arrivalOf(request: Request, server: unknown): Arrival {
  const isTaken = request.bodyUsed || request.body?.locked === true;
  const reader = isTaken ? undefined : request.body?.getReader();
  return {
    head: incomingOf(server) ?? headOf(request),
    body: reader === undefined ? [] : chunksOf(reader),
    cancel: () => void reader?.cancel().catch(() => undefined),
    announcedBytes: Number(request.headers.get('content-length') ?? 0),
    misuse: isTaken ? 'the body was already read' : undefined,
  };
}

/** The connection is closed where the rest of the body is not wanted, by the servers that obey the header. */
export function responseOf({ answer, closes }: Extract<Judgement, { proven?: undefined }>): Response {
  const { status, body } = answer;
  // Response refuses even an empty body with 204.
  return new Response(body.length === 0 ? null : (body as string), {
    status,
    headers: { ...answer.headers, ...(closes && { connection: 'close' }) },
  });
}

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** The request as it was sent, which @hono/node-server passes to the handler as `incoming`. */
function incomingOf(server: unknown): RequestHead | undefined {
  if (!isObject(server) || !('incoming' in server) || !isObject(server.incoming)) return undefined;
  const { method, url, rawHeaders } = server.incoming as Partial<
    Record<'method' | 'url' | 'rawHeaders', unknown>
  >;
  return typeof method === 'string' && typeof url === 'string' && Array.isArray(rawHeaders)
    ? { method, target: url, rawHeaders }
    : undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** The target as the handler sees it in `request.url`, or '' if `URL` would rewrite its path: some servers normalize, some do not. */
function headOf({ method, url, headers }: Request): RequestHead {
  const target = url.replace(ORIGIN, '');
  const isStable = URL.canParse(url) && new URL(url).pathname === target.split('?', 1)[0];
  const rawHeaders = [...headers].flatMap(([name, value]) => [name, withoutEnd(value)]);
  return { method, target: isStable ? target : '', rawHeaders };
}

/** White space after a value is no part of it (RFC 9110, section 5.5), but workerd leaves it there. */
function withoutEnd(value: string): string {
  let end = value.length;
  while (value[end - 1] === ' ' || value[end - 1] === '\t') end -= 1;
  return value.slice(0, end);
}
