import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasUnreadBody } from './keep-alive.ts';
import { linger, replaceDestroySoon } from './linger.ts';

/**
 * Tracks when each request of a connection began, and closes the connection without losing an answer.
 *
 * It does not listen to `data`: a socket with a listener is read through JavaScript, which costs more than parsing a
 * request. Most heads arrive whole; the others are found by polling.
 */
export function watchConnection(socket: Socket) {
  let lingering = false;
  let bytesBefore = 0;
  let unreadSince: number | undefined;
  const open: ServerResponse[] = [];
  const hasBegun = () => socket.bytesRead > bytesBefore;
  const connection = {
    /** The answer in progress, if any. */
    current: undefined as ServerResponse | undefined,
    /** When the first byte of a request with an incomplete head arrived; known once `look` has detected it. */
    firstByteAt: undefined as number | undefined,
    get lingering() {
      return lingering;
    },
    /** Whether too many requests were pipelined; further ones are ignored. */
    isRefused: false,
    /** The number of requests whose answer has not ended. */
    get openAnswers() {
      return open.length;
    },
    /** How many bytes of answers the client has not read yet, and since about when. */
    get unreadBytes(): number {
      if (open.length === 0) return socket.writableLength;
      return open.reduce((sum, res) => sum + res.writableLength, 0);
    },
    get unreadSince() {
      return unreadSince;
    },
    /** A request has arrived. */
    begin(res: ServerResponse): void {
      open.push(res);
      connection.current = res;
      connection.firstByteAt = undefined;
    },
    /** Whether a request is arriving or not answered yet. */
    get isBusy(): boolean {
      return connection.current !== undefined || lingering || hasBegun();
    },
    /**
     * Detects a request with an incomplete head, which began after `lookedAt`, the last check, and an answer that the
     * client does not read.
     */
    look(lookedAt: number): void {
      if (connection.current === undefined && hasBegun()) connection.firstByteAt ??= lookedAt;
      if (connection.unreadBytes === 0) unreadSince = undefined;
      else unreadSince ??= lookedAt;
    },
    /** An answer has ended. After the last one, arriving bytes belong to the next request. */
    answered(res: ServerResponse): void {
      open.splice(open.indexOf(res), 1);
      unreadSince = undefined;
      if (lingering || connection.current !== res) return;
      connection.current = undefined;
      bytesBefore = socket.bytesRead;
    },
    /** The body of an answered request has ended: arriving bytes belong to the next request. */
    bodyDiscarded(): void {
      if (connection.current !== undefined) return;
      connection.firstByteAt = undefined;
      bytesBefore = socket.bytesRead;
    },
    /** Sends what was written, then closes; bytes that arrive later are ignored. */
    close(): void {
      if (lingering || socket.destroyed) return;
      lingering = true;
      linger(socket);
    },
    /** Closes after the answers in progress. They have `Connection: close` if their heads are not sent yet. */
    retire(): void {
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

/** One client connection of the API server. */
export type Connection = ReturnType<typeof watchConnection>;
