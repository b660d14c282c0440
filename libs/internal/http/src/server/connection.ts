import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasUnreadBody } from './keep-alive.ts';
import { linger, replaceDestroySoon } from './linger.ts';

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
  /** The body of an answered request has ended: arriving bytes belong to the next request. */
  bodyDiscarded(): void;
  /** Sends what was written, then closes; bytes that arrive later are ignored. */
  close(): void;
  /** Closes after the answers in progress. They have `Connection: close` if their heads are not sent yet. */
  retire(): void;
}

/**
 * Tracks when each request of a connection began, and closes the connection without losing an answer.
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
    bodyDiscarded() {
      if (connection.current !== undefined) return;
      connection.firstByteAt = undefined;
      bytesBefore = socket.bytesRead;
    },
    close() {
      if (lingering || socket.destroyed) return;
      lingering = true;
      linger(socket);
    },
    retire() {
      for (const res of open) res.shouldKeepAlive = false;
    },
  };
  replaceDestroySoon(socket, () => {
    const req = connection.current?.req;
    if (connection.isRefused || (req !== undefined && hasUnreadBody(req))) connection.close();
    return lingering;
  });
  return connection;
}
