import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Limits } from '@ori/runtime/limits';
import type { Logger } from '@ori/runtime/log';
import type { Budget, Metrics } from '@ori/runtime/metrics';
import { Admission, networkOf } from './admission.ts';
import { BodyError, holdContinue } from './body.ts';
import { clientOf } from './client.ts';
import { type Connection, completeHead, watchConnection } from './connection.ts';
import { cutUnread, makeRoom } from './connection-limits.ts';
import { createDeadline, DeadlineError, presentDeadline } from './deadline.ts';
import { hasUnreadBody, type Presentation, sendEnvelope } from './envelope.ts';
import { beginExchange, type Exchange } from './exchange.ts';
import { messagesOf } from './express-messages.ts';
import { emptyQueue, type GracefulStop, stopGracefully } from './graceful-stop.ts';
import {
  CONNECT_REFUSED,
  EXPECTATION_UNKNOWN,
  judgeHead,
  presentProtocolError,
  renderRawAnswer,
} from './protocol-errors.ts';
import { requestIdOf } from './request-id.ts';
import { observe, type Sinks } from './request-line.ts';
import { followListenerTls, type ListenerFiles, readListenerTls } from './tls.ts';
import type { Tracing } from './tracing.ts';

const BUSY: Presentation = {
  status: 500,
  message: 'The service is overloaded. Repeat the request later.',
  reason: 'internal_error',
  retryable: true,
  headers: { 'Retry-After': '1' },
};

const HEADER_BYTES_MAX = 16 * 1024;
/** How often connections with a late or partial head are checked, in milliseconds. */
const CHECK_INTERVAL_MS = 100;
/** Longer than the idle timeout of common gateways, so that the gateway closes the connection. */
const KEEP_ALIVE_MS = 75_000;
/** The parser's own limit on a whole request only backs up the deadline, which answers first. */
const BACKSTOP_MS = 1000;

export type { Sinks } from './request-line.ts';

export interface ApiServerOptions {
  /** An Express application, or any request listener. */
  app: RequestListener;
  host: string;
  port: number;
  deadlineMs: number;
  /** Default: plain HTTP. */
  tls?: ListenerFiles;
  /** Limits on concurrent work. Default: `LIMITS`. */
  limits?: Partial<Limits>;
  /** The answer to a request beyond these limits. Default: 500, retryable. */
  presentBusy?: (req: IncomingMessage, budget: Budget) => Presentation;
  /**
   * Whether to trust `X-Request-Id`, `X-Forwarded-For` and `X-Forwarded-Host`: only behind a gateway that sets them.
   */
  trustGateway?: boolean;
  log?: Logger;
  metrics?: Metrics;
  tracing?: Tracing | undefined;
  /** Where a request is recorded instead, for a server in front of several services. */
  sinksOf?: (req: IncomingMessage) => Sinks;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Refuses new connections, closes idle ones, and ends busy ones after their answer. */
  withdraw(): Promise<void>;
  /** Accepts connections again, on the same port. */
  offer(): Promise<void>;
  /**
   * Stops accepting, finishes requests in progress (their answers have `Connection: close`), closes idle connections,
   * and cuts the remaining ones after `graceMs`. A gateway may send a request on an idle connection before it learns
   * that the connection is closed: with `idleGraceMs`, idle connections stay open that long and such a request is
   * answered.
   */
  stop(grace: GracefulStop): Promise<void>;
}

/**
 * A strict HTTP/1.1 server around an application. Each request has an {@link Exchange} with its id and a deadline that
 * runs from its first byte (if the head arrives in parts, the first byte counts as up to 100 ms older); at the deadline
 * the server itself answers 408. Only origin-form targets and exactly one `Host` are accepted; requests that the parser
 * refuses get an error envelope too. `100 Continue` is sent by `readJsonBody` and `readBytes`. An answer to a request
 * with an unread body closes the connection.
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { app, deadlineMs } = options;
  const serve = options.tracing?.serve(app) ?? app;
  const connections = new Map<Socket, Connection>();
  const admission = new Admission(options.limits);
  const { limits } = admission;
  let draining = false;
  let withdrawn = false;
  let idleOver = false;
  const { tls: files = {} } = options;
  const tls = readListenerTls(files);
  const settings = {
    ...messagesOf(app),
    headersTimeout: deadlineMs,
    requestTimeout: deadlineMs + BACKSTOP_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    joinDuplicateHeaders: false,
    // Checked below, where the answer is an envelope.
    requireHostHeader: false,
  };
  const secured =
    tls &&
    createSecureServer({
      ...{ ...settings, ...tls, handshakeTimeout: deadlineMs },
      requestCert: files.tlsClientCaFile !== undefined,
    });
  const server: Server = secured ?? createServer(settings);
  const unfollow = secured && followListenerTls(secured, files, options.log);

  /** Admits a request; undefined if it was refused because a limit was reached. */
  function accept(req: IncomingMessage, res: ServerResponse): Exchange | undefined {
    const connection = connections.get(req.socket);
    if (connection?.isRefused) return undefined;
    const client = clientOf(req, options.trustGateway ?? false);
    const network = networkOf(client.address);
    const isCrowded = (connection?.openAnswers ?? 0) >= limits.requestsInFlightPerConnectionMax;
    const receivedAt = connection?.firstByteAt ?? performance.now();
    const requestId = requestIdOf(req, options.trustGateway ?? false);
    connection?.begin(res);
    completeHead(res, requestId, () => draining || withdrawn || hasUnreadBody(req));
    const sinks = options.sinksOf?.(req) ?? options;
    sinks.metrics?.requestStarted();
    const exhausted = isCrowded ? 'connection' : admission.enter(network);
    if (exhausted !== undefined) {
      refuse(req, res, { budget: exhausted, receivedAt, sinks, connection });
      return undefined;
    }
    const deadline = createDeadline(deadlineMs, receivedAt, () => {
      if (res.headersSent) return;
      exchange.error ??= new DeadlineError(deadlineMs);
      sendEnvelope(res, exchange.deadlineAnswer ?? presentDeadline(deadlineMs));
    });
    const exchange: Exchange = {
      requestId,
      client,
      network,
      receivedAt,
      deadline,
      admission,
      account: undefined,
      route: undefined,
      error: undefined,
      facts: {},
    };
    beginExchange(req, exchange);
    res.once('close', () => {
      if (res.writableFinished) deadline.clear();
      else deadline.abandon(new BodyError('body_aborted', 'the client disconnected before the answer'));
      admission.leave(network, exchange.account);
      settle(req, res, connection);
      observe(req, res, exchange, sinks);
    });
    return exchange;
  }

  /** Answers without the application or a log line, so that a flood costs little. */
  function refuse(
    req: IncomingMessage,
    res: ServerResponse,
    refused: { budget: Budget; receivedAt: number; sinks: Sinks; connection: Connection | undefined },
  ): void {
    const { budget, receivedAt, sinks, connection } = refused;
    sinks.metrics?.budgetExhausted(budget);
    if (budget === 'connection') {
      if (connection !== undefined) connection.isRefused = true;
      res.shouldKeepAlive = false;
      req.socket.pause();
    }
    res.once('close', () => {
      settle(req, res, connection);
      const status = res.headersSent ? res.statusCode : undefined;
      const seconds = (performance.now() - receivedAt) / 1000;
      sinks.metrics?.requestEnded({ route: undefined, method: req.method ?? '', status, seconds });
    });
    sendEnvelope(res, options.presentBusy?.(req, budget) ?? BUSY);
  }

  function settle(req: IncomingMessage, res: ServerResponse, connection: Connection | undefined): void {
    const wasLast = connection?.current === res && !connection.lingering;
    connection?.answered(res);
    // The head of the answer may have been sent before the stop began, so the client may use the connection again until
    // told otherwise.
    if (wasLast && idleOver) req.socket.destroySoon();
  }

  function handle(req: IncomingMessage, res: ServerResponse): void {
    if (accept(req, res) === undefined) return;
    const refusal = judgeHead(req);
    if (refusal === undefined) serve(req, res);
    else sendEnvelope(res, refusal);
  }

  function answerRaw(socket: Socket, presentation: Presentation): void {
    if (!socket.writable) return void socket.destroy();
    socket.write(renderRawAnswer(presentation, randomUUID()));
    connections.get(socket)?.close();
    options.metrics?.connectionRefused(presentation.status);
    options.log?.info({ status: presentation.status }, 'connection refused');
  }

  // Of a TLS server, `connection` has the socket below TLS.
  server.on(secured ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (connections.size >= limits.connectionsMax) makeRoom(connections, socket, options.metrics);
    connections.set(socket, watchConnection(socket));
    socket.once('close', () => connections.delete(socket));
  });
  let lookedAt = performance.now();
  const looking = setInterval(() => {
    for (const connection of connections.values()) connection.look(lookedAt);
    lookedAt = performance.now();
    cutUnread(connections, limits, lookedAt, options.metrics);
  }, CHECK_INTERVAL_MS);
  server.on('close', () => {
    if (withdrawn && !draining) return;
    clearInterval(looking);
    unfollow?.();
  });
  server.on('request', handle);
  server.on('checkContinue', (req, res) => {
    holdContinue(req, res);
    handle(req, res);
  });
  server.on('checkExpectation', (req, res) => {
    if (accept(req, res) !== undefined) sendEnvelope(res, EXPECTATION_UNKNOWN);
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

  await listen(server, options.port, options.host);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  return {
    url: `http${secured ? 's' : ''}://${host}:${port}`,
    port,
    server,
    async withdraw() {
      withdrawn = true;
      await emptyQueue(server);
      // Not the HTTP server's own close, which ends its timers too.
      if (server.listening) NetServer.prototype.close.call(server);
      for (const [socket, connection] of connections) {
        if (!connection.isBusy) socket.destroy();
      }
    },
    async offer() {
      await listen(server, port, options.host);
      withdrawn = false;
    },
    stop(grace) {
      draining = true;
      return stopGracefully(server, connections, grace, () => {
        idleOver = true;
      });
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
