import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasUnreadBody } from './envelope.ts';

/** How much of a refused body is still taken in, and for how long the client may take to notice the answer. */
const LINGER_BYTES_MAX = 256 * 1024;
const LINGER_MS = 1000;

/** One client connection of the API server. */
export interface Connection {
  /** The answer that is under way, if one is. */
  current: ServerResponse | undefined;
  /** When the first byte of a request came whose head is not complete yet; known once `look` has seen it. */
  firstByteAt: number | undefined;
  readonly lingering: boolean;
  /** Whether a request has begun to come, or is not answered yet. */
  readonly isBusy: boolean;
  /** Looks whether a request has begun whose head is not complete yet: it began after `lookedAt`, the last look. */
  look(lookedAt: number): void;
  /** The answer is out: what comes from now on is the next request. */
  answered(): void;
  /** Sends what was written, then closes; bytes still coming are not processed any more. */
  close(): void;
}

/**
 * Knows of a connection when each request began, and closes it without losing an answer: a socket that is
 * closed while bytes are unread resets the connection, and the reset can overtake the answer. So, when a body was not
 * read to its end, the writing side is closed first; the client then has a moment to read its answer, and only a
 * bounded part of what it still sends is taken in.
 *
 * It listens to no `data`: a socket that somebody listens to is read through JavaScript, which costs a request more than
 * its parsing. Most heads come whole; the others are found by looking.
 */
export function watchConnection(socket: Socket): Connection {
  let lingering = false;
  let bytesBefore = 0;
  const hasBegun = () => socket.bytesRead > bytesBefore;
  const destroySoon = socket.destroySoon.bind(socket);
  const connection: Connection = {
    current: undefined,
    firstByteAt: undefined,
    get lingering() {
      return lingering;
    },
    get isBusy() {
      return connection.current !== undefined || lingering || hasBegun();
    },
    look(lookedAt) {
      if (connection.current === undefined && hasBegun()) connection.firstByteAt ??= lookedAt;
    },
    answered() {
      connection.current = undefined;
      bytesBefore = socket.bytesRead;
    },
    close() {
      if (lingering || socket.destroyed) return;
      lingering = true;
      linger(socket);
    },
  };
  // What node:http calls after the last answer of a connection.
  socket.destroySoon = () => {
    const req = connection.current?.req;
    if (req !== undefined && hasUnreadBody(req)) connection.close();
    else if (!lingering) destroySoon();
  };
  return connection;
}

/**
 * Lets an answer close its connection when `last` says so at the moment it begins, in whatever way it begins.
 *
 * The function has a name before it is the answer's: a function literal that is assigned to a property is made in V8's
 * old space, where it would keep the whole request from every young collection.
 */
export function closeAfter(res: ServerResponse, last: () => boolean): void {
  const { writeHead } = res;
  const judging = (...args: unknown[]) => {
    if (last()) res.shouldKeepAlive = false;
    return Reflect.apply(writeHead, res, args) as ServerResponse;
  };
  res.writeHead = judging as ServerResponse['writeHead'];
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
