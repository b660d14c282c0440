import { once } from 'node:events';
import http, { type ClientRequest, type ServerResponse } from 'node:http';
import https from 'node:https';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { readToEnd } from '@ori/http/read-to-end';
import { LIMITS } from '@ori/runtime/limits';
import { type GuardConfig, portOf } from './config.ts';
import { headersForClient } from './headers.ts';

/** How the daemon failed: `connect` (it did not receive the call), `time` (no answer in time), `broken` (anything else). */
export const DAEMON_FAILURES = ['connect', 'time', 'broken'] as const;
export type DaemonFailure = (typeof DAEMON_FAILURES)[number];

/** The daemon did not answer, or not completely. */
export class DaemonError extends Error {
  readonly failure: DaemonFailure;

  constructor(failure: DaemonFailure, cause: Error) {
    super('the daemon failed', { cause });
    this.name = 'DaemonError';
    this.failure = failure;
  }
}

interface Call {
  readonly method: string;
  /** The raw path, as received. */
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | Readable | undefined;
}

/** Time to connect to the daemon, then 502. Longer than the second after which Linux repeats what a full backlog dropped. */
const CONNECT_MS = 2000;

/** The daemon behind the guard. A call is never sent twice: if its connection breaks, it has failed. */
export function createDaemon({ daemonUrl, daemonAnswerMs, daemonIdleMs }: GuardConfig) {
  const url = new URL(daemonUrl);
  const address = { host: url.hostname.replace(/^\[|\]$/g, ''), port: portOf(url) };
  const { Agent, request } = url.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, timeout: daemonIdleMs });
  const running = new Set<ClientRequest>();
  let onIdle: (() => void) | undefined;
  return {
    /**
     * Makes one call, once, and streams the answer as fast as the client reads it. Resolves at its end, or when the client disconnects.
     *
     * @throws {DaemonError} The answer may have begun.
     */
    call({ body, ...call }: Call, res: ServerResponse): Promise<void> {
      const sent = request({ ...address, ...call, agent });
      const done = new Promise<void>((resolve, reject) => {
        running.add(sent);
        passOn(sent, res, daemonAnswerMs, (error) => {
          running.delete(sent);
          if (running.size === 0) onIdle?.();
          if (error === undefined) resolve();
          else reject(error);
        });
      });
      if (body === undefined || Buffer.isBuffer(body)) sent.end(body);
      else body.on('error', (error) => sent.destroy(error)).pipe(sent);
      return done;
    },
    /** Resolves if the daemon accepts connections. */
    async check(): Promise<void> {
      const socket = connect(address);
      socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('timed out connecting')));
      await once(socket, 'connect');
      socket.destroy();
    },
    /** Waits so long for the calls in progress: those of clients that left hold no connection of the guard open. */
    async close(graceMs: number): Promise<void> {
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
        if (running.size === 0) resolve();
      });
      const late = setTimeout(() => agent.destroy(), graceMs);
      await idle;
      clearTimeout(late);
      agent.destroy();
    },
  };
}

export type Daemon = ReturnType<typeof createDaemon>;

/**
 * Passes an answer on. A client that reads nothing for {@link LIMITS.writeTimeoutMs} is cut off, as if it had left: its answer may be
 * kept.
 *
 * @param end called at the end of the answer, or when the client disconnects; with the error if the daemon failed. Its first call counts
 */
function passOn(
  sent: ClientRequest,
  res: ServerResponse,
  answerMs: number,
  end: (error?: DaemonError) => void,
): void {
  const { writeTimeoutMs } = LIMITS;
  let failure: DaemonFailure = 'connect';
  let timer = setTimeout(() => sent.destroy(new Error('timed out connecting')), CONNECT_MS);
  let stalled: NodeJS.Timeout | undefined;
  const settle = (error?: DaemonError) => {
    clearTimeout(timer);
    clearTimeout(stalled);
    res.off('close', leave);
    end(error);
  };
  const fail = (error: Error) => settle(new DaemonError(failure, error));
  // Of an answer that switches protocols, Node tells nothing else.
  const closed = () => fail(new Error('the connection closed without an answer'));
  const leave = () => {
    settle();
    sent.destroy();
  };
  const connected = () => {
    failure = 'broken';
    clearTimeout(timer);
    timer = setTimeout(() => {
      failure = 'time';
      sent.destroy(new Error('timed out'));
    }, answerMs);
  };
  res.once('close', leave);
  sent.on('error', fail).once('close', closed);
  sent.once('socket', (socket) => {
    readToEnd(socket);
    if (sent.reusedSocket) connected();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', connected);
  });
  sent.once('response', (answer) => {
    sent.off('close', closed);
    clearTimeout(timer);
    res.writeHead(answer.statusCode ?? 502, headersForClient(answer.rawHeaders));
    // The client of a stream must not wait for its first event.
    if (answer.headers['content-length'] === undefined) res.flushHeaders();
    answer.on('error', fail);
    answer.on('data', (chunk: Buffer) => {
      if (res.write(chunk)) return;
      answer.pause();
      stalled = setTimeout(() => (res.socket ?? res).destroy(), writeTimeoutMs);
    });
    res.on('drain', () => {
      clearTimeout(stalled);
      answer.resume();
    });
    answer.once('end', () => {
      // A daemon may answer before it has read the call.
      if (!sent.writableFinished) sent.destroy();
      settle();
      const unread = setTimeout(() => res.destroy(), writeTimeoutMs);
      res.once('close', () => clearTimeout(unread)).end();
    });
  });
  if (res.destroyed) leave();
}
