import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasUnreadBody } from './envelope.ts';

/** How much of a refused body is still read, and how long the client may take to read the answer. */
const LINGER_BYTES_MAX = 256 * 1024;
const LINGER_MS = 1000;

/** One client connection of the API server. */
export interface Connection {
  /** The answer in progress, if any. */
  current: ServerResponse | undefined;
  /** When the first byte of a request with an incomplete head arrived; known once `look` has detected it. */
  firstByteAt: number | undefined;
  readonly lingering: boolean;
  /** The number of requests whose answer has not ended. */
  readonly openAnswers: number;
  /** How many bytes of answers the client has not read yet, and since about when. */
  readonly unreadBytes: number;
  readonly unreadSince: number | undefined;
  /** Whether too many requests were pipelined; further ones are ignored. */
  isRefused: boolean;
  /** A request has arrived. */
  begin(res: ServerResponse): void;
  /** Whether a request is arriving or not answered yet. */
  readonly isBusy: boolean;
  /**
   * Detects a request with an incomplete head, which began after `lookedAt`, the last check, and an answer that the
   * client does not read.
   */
  look(lookedAt: number): void;
  /** An answer has ended. After the last one, arriving bytes belong to the next request. */
  answered(res: ServerResponse): void;
  /** Sends what was written, then closes; bytes that still arrive are not processed. */
  close(): void;
}

/**
 * Tracks when each request of a connection began, and closes the connection without losing an answer: closing a socket
 * with unread bytes resets the connection, and the reset can overtake the answer. If a body was not read to its end,
 * the writing side is therefore closed first; the client then has a moment to read its answer, and only a bounded part
 * of what it still sends is read.
 *
 * It does not listen to `data`: a socket with a listener is read through JavaScript, which costs more than parsing a
 * request. Most heads arrive whole; the others are found by polling.
 */
export function watchConnection(socket: Socket): Connection {
  let lingering = false;
  let bytesBefore = 0;
  let unreadSince: number | undefined;
  const open: ServerResponse[] = [];
  const hasBegun = () => socket.bytesRead > bytesBefore;
  const destroySoon = socket.destroySoon.bind(socket);
  const connection: Connection = {
    current: undefined,
    firstByteAt: undefined,
    get lingering() {
      return lingering;
    },
    isRefused: false,
    get openAnswers() {
      return open.length;
    },
    get unreadBytes() {
      if (open.length === 0) return socket.writableLength;
      return open.reduce((sum, res) => sum + res.writableLength, 0);
    },
    get unreadSince() {
      return unreadSince;
    },
    begin(res) {
      open.push(res);
      connection.current = res;
      connection.firstByteAt = undefined;
    },
    get isBusy() {
      return connection.current !== undefined || lingering || hasBegun();
    },
    look(lookedAt) {
      if (connection.current === undefined && hasBegun()) connection.firstByteAt ??= lookedAt;
      if (connection.unreadBytes === 0) unreadSince = undefined;
      else unreadSince ??= lookedAt;
    },
    answered(res) {
      open.splice(open.indexOf(res), 1);
      unreadSince = undefined;
      if (lingering || connection.current !== res) return;
      connection.current = undefined;
      bytesBefore = socket.bytesRead;
    },
    close() {
      if (lingering || socket.destroyed) return;
      lingering = true;
      linger(socket);
    },
  };
  // node:http calls this after the last answer of a connection.
  socket.destroySoon = () => {
    const req = connection.current?.req;
    if (connection.isRefused || (req !== undefined && hasUnreadBody(req))) connection.close();
    else if (!lingering) destroySoon();
  };
  return connection;
}

/**
 * Completes the head of an answer at the moment it begins, in whatever way it begins: with the request's id, and with
 * `Connection: close` where `last` says so. A header that is set earlier makes Node judge all of them one by one, which takes 1.5 µs more.
 *
 * The function has a name before it is the answer's: a function literal that is assigned to a property is made in V8's
 * old space, where it would keep the whole request from every young collection.
 */
export function completeHead(res: ServerResponse, requestId: string, last: () => boolean): void {
  const { writeHead } = res;
  const complete = (...args: unknown[]) => {
    if (last()) res.shouldKeepAlive = false;
    const headers = args.at(-1);
    if (typeof headers !== 'object' || Array.isArray(headers)) res.setHeader('X-Request-Id', requestId);
    else args[args.length - 1] = { ...headers, 'X-Request-Id': requestId };
    return Reflect.apply(writeHead, res, args) as ServerResponse;
  };
  res.writeHead = complete as ServerResponse['writeHead'];
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
