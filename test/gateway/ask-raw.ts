import { connect } from 'node:net';

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
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(Buffer.from(bytes, 'latin1'));
  let text = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (isLast(text)) resolve();
    });
    // A server that refuses may reset the connection while we write.
    socket.on('error', () => {}).once('close', () => resolve());
  });
  socket.destroy();
  const end = text.indexOf('\r\n\r\n');
  const head = end === -1 ? text : text.slice(0, end);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
  return { status, head, body: end === -1 ? '' : text.slice(end + 4) };
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
