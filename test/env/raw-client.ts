import { connect } from 'node:net';

/** An HTTP/1.1 answer as read by a raw client. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** @param address the port of this machine, or a URL with it */
export async function rawClient(address: number | string) {
  const port = typeof address === 'number' ? address : Number(new URL(address).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let buffer = '';
  let failure: Error | undefined;
  let wake: () => void = () => {};
  const change = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    buffer += chunk;
    wake();
  });
  socket.on('error', (error) => {
    failure = error;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let ended = false;
  socket.on('end', () => {
    ended = true;
    wake();
  });
  void closed.then(() => {
    ended = true;
    wake();
  });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    socket,
    send: (bytes: string | Uint8Array) => void socket.write(bytes),
    /** Received bytes that `answer()` has not returned yet. */
    received: () => buffer,
    /** The next complete answer; rejects if the connection ends before. */
    async answer(): Promise<RawAnswer> {
      for (;;) {
        const parsed = parseAnswer(buffer);
        if (parsed !== undefined) {
          buffer = parsed.rest;
          return parsed.answer;
        }
        if (ended)
          throw new Error(`the connection ended before an answer; received ${JSON.stringify(buffer)}`);
        await change();
      }
    },
    /** `received()` once it passes, as a regular expression does; rejects if the connection ends before. */
    async until(pattern: { test(received: string): boolean }): Promise<string> {
      while (!pattern.test(buffer)) {
        if (ended) throw new Error(`the connection ended after ${JSON.stringify(buffer)}`);
        await change();
      }
      return buffer;
    },
    /** `received()` once the server has ended its side. */
    async untilEnd(): Promise<string> {
      while (!ended) await change();
      return buffer;
    },
    /** Resolves when the connection is closed; with the error that closed it, if one did. */
    closed(): Promise<Error | undefined> {
      if (ended) socket.end();
      else socket.once('end', () => socket.end());
      return closed.then(() => failure);
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** A client that writes exactly the given bytes, for requests that no HTTP client would send. */
export type RawClient = Awaited<ReturnType<typeof rawClient>>;

function parseAnswer(text: string): { answer: RawAnswer; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const status = Number(statusLine.split(' ')[1]);
  const length = Number(headers.get('content-length') ?? 0);
  const bodyEnd = end + 4 + length;
  if (text.length < bodyEnd) return undefined;
  return { answer: { status, headers, body: text.slice(end + 4, bodyEnd) }, rest: text.slice(bodyEnd) };
}
