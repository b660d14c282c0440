import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { hasUnreadBody } from './envelope.ts';

/** How much of a refused body is still taken in, and for how long the client may take to notice the answer. */
const LINGER_BYTES_MAX = 256 * 1024;
const LINGER_MS = 1000;

/** One client connection of the API server. */
export interface Connection {
  /** The answer that is under way, if one is. */
  current: ServerResponse | undefined;
  /** When the first byte of a request came whose head is not complete yet. */
  firstByteAt: number | undefined;
  readonly lingering: boolean;
  /** Sends what was written, then closes; bytes still coming are not processed any more. */
  close(): void;
}

/**
 * Watches a connection for the first byte of each request, and closes it without losing an answer: a socket that is
 * closed while bytes are unread resets the connection, and the reset can overtake the answer. So, when a body was not
 * read to its end, the writing side is closed first; the client then has a moment to read its answer, and only a
 * bounded part of what it still sends is taken in.
 */
export function watchConnection(socket: Socket): Connection {
  let lingering = false;
  const destroySoon = socket.destroySoon.bind(socket);
  const connection: Connection = {
    current: undefined,
    firstByteAt: undefined,
    get lingering() {
      return lingering;
    },
    close() {
      if (lingering || socket.destroyed) return;
      lingering = true;
      linger(socket);
    },
  };
  socket.on('data', () => {
    if (connection.current === undefined) connection.firstByteAt ??= performance.now();
  });
  // What node:http calls after the last answer of a connection.
  socket.destroySoon = () => {
    const req = connection.current?.req;
    if (req !== undefined && hasUnreadBody(req)) connection.close();
    else if (!lingering) destroySoon();
  };
  return connection;
}

/** Lets an answer close its connection when `last` says so at the moment it begins, in whatever way it begins. */
export function closeAfter(res: ServerResponse, last: () => boolean): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = ((...args: unknown[]) => {
    if (last()) res.shouldKeepAlive = false;
    return writeHead(...args);
  }) as ServerResponse['writeHead'];
}

function linger(socket: Socket): void {
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
