import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export type Header = readonly [name: string, value: string];

/** A request, byte for byte. */
export interface RawRequest {
  readonly method?: string;
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body: Buffer;
  /** Sends the body in one chunk (RFC 9112, section 7.1), followed by these trailer fields. */
  readonly trailers?: readonly Header[];
  /** What follows the bytes of that chunk, instead of a line break. */
  readonly chunkEnd?: string;
  /** Announces this length instead of the body's; `none` for no length at all. */
  readonly announced?: number | 'none';
  /** Ends its side of the connection after this many bytes of the body. */
  readonly cutAfter?: number;
  /** One byte of the body in this many milliseconds. */
  readonly byteEveryMs?: number;
}

/** No status if the connection ended without an answer. */
export interface RawAnswer {
  readonly status?: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** From the end of the request's head. */
  readonly milliseconds: number;
}

const ANSWER_MS = 40_000;

export function renderHead({
  method = 'POST',
  target,
  headers,
  body,
  trailers,
  announced,
}: RawRequest): Buffer {
  const framing: Header =
    trailers === undefined
      ? ['Content-Length', String(announced ?? body.length)]
      : ['Transfer-Encoding', 'chunked'];
  const sent = announced === 'none' ? headers : [framing, ...headers];
  const lines = [`${method} ${target} HTTP/1.1`, ...sent.map((header) => header.join(': '))];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function renderBody({ body, trailers, chunkEnd = '\r\n' }: RawRequest): Buffer {
  if (trailers === undefined) return body;
  const end = trailers.map((header) => `${header.join(': ')}\r\n`).join('');
  const size = body.length === 0 ? '' : `${body.length.toString(16)}\r\n`;
  return Buffer.concat([
    Buffer.from(size),
    body,
    Buffer.from(`${body.length === 0 ? '' : chunkEnd}0\r\n${end}\r\n`, 'latin1'),
  ]);
}

/** Sends one request on a connection of its own. */
export async function send(url: URL, request: RawRequest): Promise<RawAnswer> {
  const [answer] = await sendAll(url, [
    { ...request, headers: [['Connection', 'close'], ...request.headers] },
  ]);
  return answer ?? { headers: new Map(), body: '', milliseconds: 0 };
}

/** Sends all of these on one connection, without waiting for answers. */
export async function sendAll(url: URL, requests: readonly RawRequest[]): Promise<RawAnswer[]> {
  const socket = connect(Number(url.port), url.hostname);
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect').catch(() => undefined), once(socket, 'close')]);
  const startedMs = performance.now();
  const isDone = (): boolean => parse(Buffer.concat(received)).length >= requests.length;
  const writing = write(socket, requests, isDone);
  const end = Promise.race([once(socket, 'close'), pause(ANSWER_MS, undefined, { ref: false })]);
  while (!socket.closed && !isDone() && performance.now() - startedMs < ANSWER_MS) {
    await Promise.race([end, once(socket, 'data').catch(() => undefined)]);
  }
  const milliseconds = performance.now() - startedMs;
  socket.destroy();
  await writing;
  return parse(Buffer.concat(received)).map((answer) => ({ ...answer, milliseconds }));
}

/** Sends each on a connection of its own, and the last bytes of all of them together. */
export async function sendTogether(url: URL, requests: readonly RawRequest[]): Promise<RawAnswer[]> {
  const sent = [];
  for (const request of requests) {
    const bytes = Buffer.concat([renderHead(request), renderBody(request)]);
    const socket = connect(Number(url.port), url.hostname).setNoDelay();
    const answer = firstAnswer(socket);
    // One after the other: some servers let few connections wait.
    await Promise.race([once(socket, 'connect').catch(() => undefined), once(socket, 'close')]);
    socket.write(bytes.subarray(0, -1));
    sent.push({ socket, answer, last: bytes.subarray(-1) });
  }
  // Until the server has read what it waits with.
  await pause(2);
  for (const { socket, last } of sent) socket.write(last);
  return Promise.all(sent.map(({ answer }) => answer));
}

async function firstAnswer(socket: Socket): Promise<RawAnswer> {
  const received: Buffer[] = [];
  socket.setTimeout(ANSWER_MS, () => socket.destroy());
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received.push(chunk);
    if (parse(Buffer.concat(received)).length > 0) socket.destroy();
  });
  await new Promise((resolve) => socket.once('close', resolve));
  const [answer = { headers: new Map(), body: '' }] = parse(Buffer.concat(received));
  return { ...answer, milliseconds: 0 };
}

async function write(socket: Socket, requests: readonly RawRequest[], isDone: () => boolean): Promise<void> {
  for (const request of requests) {
    const { cutAfter, byteEveryMs } = request;
    const bytes = renderBody(request);
    if (byteEveryMs === undefined) {
      socket.write(Buffer.concat([renderHead(request), bytes.subarray(0, cutAfter)]));
      if (cutAfter !== undefined) socket.end();
      continue;
    }
    socket.write(renderHead(request));
    for (const byte of bytes) {
      if (socket.closed || isDone()) return;
      await pause(byteEveryMs, undefined, { ref: false });
      if (!socket.closed) socket.write(Buffer.from([byte]));
    }
  }
}

/** The complete answers so far, interim ones left out. */
function parse(bytes: Buffer): Omit<RawAnswer, 'milliseconds'>[] {
  const answers: Omit<RawAnswer, 'milliseconds'>[] = [];
  let rest = bytes.toString('latin1');
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return answers;
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]);
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const taken = bodyOf(headers, rest);
    if (taken === undefined) return answers;
    answers.push({ status, headers, body: taken.body });
    rest = rest.slice(taken.length);
  }
}

function bodyOf(
  headers: ReadonlyMap<string, string>,
  rest: string,
): { body: string; length: number } | undefined {
  const announced = headers.get('content-length');
  if (announced !== undefined) {
    const length = Number(announced);
    return rest.length < length ? undefined : { body: rest.slice(0, length), length };
  }
  if (headers.get('transfer-encoding') !== 'chunked') return { body: rest, length: rest.length };
  let body = '';
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    const size = line === -1 ? Number.NaN : Number.parseInt(rest.slice(at, line), 16);
    if (Number.isNaN(size) || rest.length < line + size + 4) return undefined;
    body += rest.slice(line + 2, line + 2 + size);
    at = line + size + 4;
    if (size === 0) return { body, length: at };
  }
}
