import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection on which a test writes and reads raw bytes. */
export interface RawConnection extends AsyncDisposable {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Everything received until it matches. Rejects if the connection ends first. */
  received(pattern: RegExp): Promise<string>;
  /** Everything received until the server closed. */
  untilClosed(): Promise<string>;
}

export async function openConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  let over = false;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  // A server may close while we still write.
  socket.on('error', () => {});
  const end = () => {
    over = true;
    socket.emit('over');
  };
  socket.once('end', end).once('close', end);
  await once(socket, 'connect');
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    async received(pattern) {
      while (!pattern.test(text)) {
        if (over) throw new Error(`the connection ended after ${JSON.stringify(text)}`);
        await Promise.race([once(socket, 'data'), once(socket, 'over')]);
      }
      return text;
    },
    async untilClosed() {
      if (!over) await once(socket, 'over');
      return text;
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  };
}

/** The head of a signing request, with additional header lines. */
export function head(path: string, ...lines: string[]): string {
  return [`POST ${path} HTTP/1.1`, 'Host: api.ori.test', ...lines, '', ''].join('\r\n');
}

/** The envelope's reason in a raw response. */
export function reasonIn(answer: string): string | undefined {
  return /"reason":"(\w+)"/.exec(answer)?.[1];
}
