import { createServer } from 'node:net';
import { serve } from './serve.ts';

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
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(GREETING));
  });
  const served = await serve(server);
  return { ...served, url: `postgres://ada@${served.address}/ori` };
}
