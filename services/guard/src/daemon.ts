import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { readToEnd } from '@ori/http/read-to-end';
import { LIMITS } from '@ori/runtime/limits';
import { buildConnector, type Dispatcher, errors, Pool } from 'undici';
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
  // Over HTTP/2, undici sends a call again that a stream refused.
  const connectTo = buildConnector({ timeout: CONNECT_MS, allowH2: false });
  const pool = new Pool(daemonUrl, {
    connections: null,
    pipelining: 1,
    allowH2: false,
    // The name that undici takes from the client's Host must not be the one of the daemon's certificate.
    connect: ({ servername: _, ...address }, done) =>
      connectTo(address, (...made) => {
        if (made[1]) readToEnd(made[1]);
        done(...made);
      }),
    headersTimeout: daemonAnswerMs,
    bodyTimeout: 0,
    keepAliveTimeout: daemonIdleMs,
    keepAliveMaxTimeout: daemonIdleMs,
  });
  return {
    /**
     * Makes one call, once, and streams the answer as fast as the client reads it. Resolves at its end, or when the client disconnects.
     *
     * @throws {DaemonError} The answer may have begun.
     */
    call: ({ method, path, headers, body }: Call, res: ServerResponse) =>
      new Promise<void>((resolve, reject) => {
        const request = { method, path, headers, body: body ?? null } as Dispatcher.DispatchOptions;
        pool.dispatch(request, stream(res, LIMITS.writeTimeoutMs, { resolve, reject }));
      }),
    /** Resolves if the daemon accepts connections. */
    async check(): Promise<void> {
      const url = new URL(daemonUrl);
      const socket = connect(portOf(url), url.hostname.replace(/^\[|\]$/g, ''));
      socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('timed out connecting')));
      await once(socket, 'connect');
      socket.destroy();
    },
    /** Waits so long for the calls in progress: those of clients that left hold no connection of the guard open. */
    async close(graceMs: number): Promise<void> {
      const late = setTimeout(() => void pool.destroy(), graceMs);
      await pool.close();
      clearTimeout(late);
    },
  };
}

export type Daemon = ReturnType<typeof createDaemon>;

/** Passes an answer on. A client that reads nothing for `writeTimeoutMs` is cut off, as if it had left: its answer may be kept. */
function stream(
  res: ServerResponse,
  writeTimeoutMs: number,
  { resolve, reject }: { resolve: () => void; reject: (error: Error) => void },
): Dispatcher.DispatchHandler {
  let gone: (() => void) | undefined;
  let stalled: NodeJS.Timeout | undefined;
  const settle = (act: () => void) => {
    clearTimeout(stalled);
    if (gone) res.off('close', gone);
    act();
  };
  return {
    onRequestStart(controller) {
      gone = () => controller.abort(new ClientGone());
      if (res.destroyed) return gone();
      res.once('close', gone);
      res.on('drain', () => {
        clearTimeout(stalled);
        controller.resume();
      });
    },
    onResponseStart(controller, status) {
      if (status < 200) return;
      const headers = headersForClient((controller.rawHeaders ?? []) as Buffer[]);
      res.writeHead(status, headers);
      // The client of a stream must not wait for its first event.
      if (!headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === 'content-length'))
        res.flushHeaders();
    },
    onResponseData(controller, chunk) {
      if (res.write(chunk)) return;
      controller.pause();
      clearTimeout(stalled);
      stalled = setTimeout(() => (res.socket ?? res).destroy(), writeTimeoutMs);
    },
    onResponseEnd() {
      settle(() => {
        const unread = setTimeout(() => res.destroy(), writeTimeoutMs);
        res.once('close', () => clearTimeout(unread)).end();
        resolve();
      });
    },
    onResponseError(_controller, error) {
      settle(() => {
        if (error instanceof ClientGone) resolve();
        // undici calls this once it has a connection (with TLS, after the handshake), just before it writes.
        else reject(new DaemonError(gone === undefined ? 'connect' : failureOf(error), error));
      });
    },
  };
}

class ClientGone extends Error {}

const failureOf = (error: Error): DaemonFailure =>
  error instanceof errors.HeadersTimeoutError ? 'time' : 'broken';
