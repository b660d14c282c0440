import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A field's letter and text, as PostgreSQL's ErrorResponse has it. */
const field = (letter: string, text: string) => `${letter}${text}\0`;
const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
};

/** AuthenticationOk, ReadyForQuery and a shutdown error in one chunk, as a busy client would read them. */
const GREETING = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from(`${field('S', 'FATAL')}${field('C', '57P01')}${field('M', 'shutting down')}\0`)),
]);

/** A server that disconnects each client right after accepting its login. */
export async function startDismissingPostgres(): Promise<{ readonly url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => socket.end(GREETING));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `postgres://ada@127.0.0.1:${(server.address() as AddressInfo).port}/ori`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
