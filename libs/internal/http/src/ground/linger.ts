import type { Socket } from 'node:net';

/** How much of a refused body is still read, and how long the client may take to read the answer. */
const LINGER_BYTES_MAX = 256 * 1024;
const LINGER_MS = 1000;

/**
 * Replaces a method of Node's socket, because there is no other way: `node:http` calls `destroySoon` after the last
 * answer of a connection. Destroying a socket with unread bytes resets the connection, and the reset can overtake the
 * answer (RFC 9112, section 9.6). server.test.ts, "does not reset a client …", fails without it.
 *
 * @param isLingering whether the connection lingers instead; may begin it
 */
export function replaceDestroySoon(socket: Socket, isLingering: () => boolean): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (!isLingering()) destroySoon();
  };
}

/**
 * Closes the writing side first. The client then has a second to read its answer, and a bounded part of what it
 * still sends is read and discarded.
 */
export function linger(socket: Socket): void {
  let left = LINGER_BYTES_MAX;
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) socket.pause();
  });
  socket.once('end', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end();
  socket.resume();
}
