import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { holdContinue } from './body.ts';
import { type Connection, watchConnection } from './connection.ts';
import { createDeadline, DeadlineError, presentDeadline } from './deadline.ts';
import { hasUnreadBody, type Presentation, sendEnvelope } from './envelope.ts';
import { beginExchange, type Exchange } from './exchange.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import {
  CONNECT_REFUSED,
  EXPECTATION_UNKNOWN,
  HOST_NOT_SINGLE,
  NOT_ORIGIN_FORM,
  presentProtocolError,
  renderRawAnswer,
} from './protocol-errors.ts';
import { requestIdOf } from './request-id.ts';
import { observe } from './request-line.ts';
import { parseTarget } from './target.ts';

const HEADER_BYTES_MAX = 16 * 1024;
const CHECK_INTERVAL_MS = 100;
/** Longer than the idle time-out of common gateways, so that the gateway is the one that closes. */
const KEEP_ALIVE_MS = 75_000;
/** The parser's own limit on a whole request only backs up the deadline, which answers first. */
const BACKSTOP_MS = 1000;

export interface ApiServerOptions {
  /** An Express application, or any request listener. */
  app: RequestListener;
  host: string;
  port: number;
  deadlineMs: number;
  /** Whether `X-Request-Id` is taken from the request: only behind a gateway that sets it. */
  trustGateway?: boolean;
  log?: Logger;
  metrics?: Metrics;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /**
   * Accepts nothing more, lets requests under way end (their answers say `Connection: close`), closes idle
   * connections, and cuts what is left after `graceMs`. A gateway may have sent a request on an idle connection
   * before it learns of its end: with `idleGraceMs` idle connections stay that long, and such a request is answered.
   */
  stop(options: { graceMs: number; idleGraceMs?: number }): Promise<void>;
}

/**
 * A strict HTTP/1.1 server around an application. Each request has an {@link Exchange} with its id and a deadline
 * that runs from its first byte; at the deadline the server itself answers 408. Only origin-form targets and exactly
 * one `Host` pass; what the parser refuses is answered with the error envelope too. `100 Continue` is left to
 * `readBody`. An answer to a request whose body was not read closes the connection.
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { app, deadlineMs } = options;
  const connections = new Map<Socket, Connection>();
  let draining = false;
  const server = createServer({
    headersTimeout: deadlineMs,
    requestTimeout: deadlineMs + BACKSTOP_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    joinDuplicateHeaders: false,
    // Judged below, where the answer is an envelope.
    requireHostHeader: false,
  });

  function accept(req: IncomingMessage, res: ServerResponse): Exchange {
    const connection = connections.get(req.socket);
    const receivedAt = connection?.firstByteAt ?? performance.now();
    const deadline = createDeadline(deadlineMs, receivedAt);
    const requestId = requestIdOf(req, options.trustGateway ?? false);
    const exchange: Exchange = {
      requestId,
      receivedAt,
      deadline,
      route: undefined,
      error: undefined,
      facts: {},
    };
    beginExchange(req, exchange);
    if (connection !== undefined) {
      connection.firstByteAt = undefined;
      connection.current = res;
    }
    res.setHeader('X-Request-Id', requestId);
    closeWhenNeeded(res, () => draining);
    deadline.signal.addEventListener('abort', () => {
      if (res.headersSent) return;
      exchange.error ??= new DeadlineError(deadlineMs);
      sendEnvelope(res, exchange.deadlineAnswer ?? presentDeadline(deadlineMs));
    });
    options.metrics?.requestStarted();
    res.once('close', () => {
      deadline.clear();
      if (connection?.current === res && !connection.lingering) connection.current = undefined;
      observe(req, res, exchange, options);
    });
    return exchange;
  }

  function handle(req: IncomingMessage, res: ServerResponse): void {
    accept(req, res);
    if (countHosts(req) !== 1) sendEnvelope(res, HOST_NOT_SINGLE);
    else if (parseTarget(req.url) === undefined) sendEnvelope(res, NOT_ORIGIN_FORM);
    else app(req, res);
  }

  function answerRaw(socket: Socket, presentation: Presentation): void {
    if (!socket.writable) return void socket.destroy();
    socket.write(renderRawAnswer(presentation, randomUUID()));
    connections.get(socket)?.close();
    options.metrics?.connectionRefused(presentation.status);
    options.log?.info({ status: presentation.status }, 'connection refused');
  }

  server.on('connection', (socket) => {
    connections.set(socket, watchConnection(socket));
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', handle);
  server.on('checkContinue', (req, res) => {
    holdContinue(req, res);
    handle(req, res);
  });
  server.on('checkExpectation', (req, res) => {
    accept(req, res);
    sendEnvelope(res, EXPECTATION_UNKNOWN);
  });
  server.on('connect', (_req, stream) => answerRaw(stream as Socket, CONNECT_REFUSED));
  server.on('clientError', (error: Error & { code?: string }, stream) => {
    const socket = stream as Socket;
    const connection = connections.get(socket);
    const current = connection?.current;
    if (connection?.lingering) return;
    if (error.code === 'ECONNRESET' || current?.headersSent) return void socket.destroy();
    const presentation = presentProtocolError(error.code, deadlineMs, current !== undefined);
    if (current === undefined) return answerRaw(socket, presentation);
    sendEnvelope(current, presentation);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  return {
    url: `http://${host}:${port}`,
    port,
    server,
    async stop({ graceMs, idleGraceMs = 0 }) {
      draining = true;
      const cut = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy();
      }, graceMs);
      const closeIdle = setTimeout(() => {
        for (const [socket, { current, firstByteAt, lingering }] of connections) {
          if (current === undefined && firstByteAt === undefined && !lingering) socket.destroy();
        }
      }, idleGraceMs);
      // Not the HTTP server's own close: it would close idle connections at once.
      await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
      clearTimeout(cut);
      clearTimeout(closeIdle);
      server.close();
    },
  };
}

/** Whatever way the answer begins, it closes the connection where it must. */
function closeWhenNeeded(res: ServerResponse, draining: () => boolean): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = ((...args: unknown[]) => {
    if (draining() || hasUnreadBody(res.req)) res.shouldKeepAlive = false;
    return writeHead(...args);
  }) as ServerResponse['writeHead'];
}

function countHosts(req: IncomingMessage): number {
  return req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
}
