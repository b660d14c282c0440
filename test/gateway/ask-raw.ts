import { rawClient } from '../env/raw-client.ts';

/** The response to bytes sent on a new connection. */
export interface RawReply {
  /** 0: the connection was closed without a response. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Writes the bytes (one character per byte) and reads until the other side closes the connection, or has sent a complete
 * response that announces it.
 */
export async function askRaw(port: number, bytes: string): Promise<RawReply> {
  using client = await rawClient(port);
  client.send(Buffer.from(bytes, 'latin1'));
  const text = await client.until({ test: isLast }).catch(() => client.received());
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s, 2);
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0), head, body };
}
function isLast(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const head = text.slice(0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return (
    /\r\nconnection: *close/i.test(head) && length !== undefined && text.length >= end + 4 + Number(length)
  );
}

/** The bytes of a request with `Connection: close`. */
export function requestBytes(
  requestLine: string,
  headers: readonly (readonly [string, string])[],
  body = '',
): string {
  const lines = [
    requestLine,
    'Host: localhost',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
