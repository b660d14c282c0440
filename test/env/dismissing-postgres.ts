import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A field's letter and text, as PostgreSQL's ErrorResponse has it. */
const field = (letter: string, text: string) => `${letter}${text}\0`;
const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
};

/** "You are in. I am ready. I am shutting down", in one piece, as a client reads it that was busy meanwhile. */
const GREETING = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from(`${field('S', 'FATAL')}${field('C', '57P01')}${field('M', 'shutting down')}\0`)),
]);

/** A server that dismisses each client as soon as it has let it in. */
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
