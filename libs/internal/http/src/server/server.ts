import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { instrumentsOf } from '@ori/runtime/instruments';
import { breakOff, holdContinue } from '../ground/body.ts';
import { type Connection, watchConnection } from '../ground/connection.ts';
import { sendEnvelope } from '../ground/envelope.ts';
import type { Presentation } from '../ground/presentation.ts';
import { followListenerTls } from '../ground/tls.ts';
import { type AcceptDelay, watchAcceptDelay } from '../overload/accept-delay.ts';
import { Admission } from '../overload/admission.ts';
import { cutUnread, makeRoom } from '../overload/connection-limits.ts';
import { Shedding } from '../overload/shedding.ts';
import { emptyQueue, type GracefulStop, stopGracefully } from './graceful-stop.ts';
import { createListener } from './listener.ts';
import {
  CONNECT_REFUSED,
  EXPECTATION_UNKNOWN,
  judgeHead,
  presentProtocolError,
  renderRawAnswer,
} from './protocol-errors.ts';
import { createRequestAdmission } from './request-admission.ts';
import type { ApiServerOptions } from './server-options.ts';

/** Room for an access token of 16,000 characters, its DPoP proof and the usual headers. */
const HEADER_BYTES_MAX = 24 * 1024;
/** How often connections with a late or partial head are checked, in milliseconds. */
const CHECK_INTERVAL_MS = 100;
/** Longer than the idle timeout of common gateways, so that the gateway closes the connection. */
const KEEP_ALIVE_MS = 75_000;
/** The only expectation that is supported. */
const CONTINUE = /^100-continue$/i;
/** The parser's own limit on a whole request only backs up the deadline, which answers first. */
const BACKSTOP_MS = 1000;

export type { Sinks } from '../observe/request-line.ts';
export type { ApiServerOptions } from './server-options.ts';

/**
 * A strict HTTP/1.1 server around an application. Each request has an {@link Exchange} with its id and a deadline that
 * runs from its first byte (if the head arrives in parts, the first byte counts as up to 100 ms older); at the deadline
 * the server itself answers 408. Only origin-form targets and exactly one `Host` are accepted; requests that the parser
 * refuses get an error envelope too. `100 Continue` is sent by `readBody` and `readChunks`. An answer to a request
 * with an unread body closes the connection.
 */
export async function startApiServer(options: ApiServerOptions) {
  const { app, deadlineMs } = options;
  const connections = new Map<Socket, Connection>();
  const admission = new Admission(options.limits);
  const { limits } = admission;
  const shedding = new Shedding(limits.overloadDelayMs);
  let draining = false;
  let withdrawn = false;
  let idleOver = false;
  const { tls: files = {} } = options;
  const tls = await followListenerTls(files, (renewed) => secured?.setSecureContext(renewed), options.log);
  const settings = {
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
      ...settings,
      ...tls.first,
      handshakeTimeout: deadlineMs,
      requestCert: files.tlsClientCaFile !== undefined,
    });
  const server: Server = secured ?? createServer(settings);
  const listener = createListener(server, { allowHalfOpen: secured === undefined });
  let acceptDelay: AcceptDelay | undefined;

  const accept = createRequestAdmission(options, {
    connections,
    admission,
    shedding,
    isClosing: () => draining || withdrawn,
    isIdleOver: () => idleOver,
  });

  function handle(req: IncomingMessage, res: ServerResponse): void {
    if (accept(req, res) === undefined) return;
    const refusal = judgeHead(req);
    if (refusal === undefined) app(req, res);
    else sendEnvelope(res, refusal);
  }

  function answerRaw(socket: Socket, presentation: Presentation): void {
    if (!socket.writable) return void socket.destroy();
    socket.write(renderRawAnswer(presentation, randomUUID()));
    connections.get(socket)?.close();
    options.metrics?.connectionRefused(presentation.status);
    options.log?.info({ status: presentation.status }, 'connection refused');
  }

  // A TLS server emits `connection` for the socket below TLS.
  server.on(secured ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (socket.destroyed) return;
    options.metrics?.noteCertificates(socket, { own: 'listener', peer: 'gateway' });
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
  server.on('request', handle);
  const refuseExpectation = (req: IncomingMessage, res: ServerResponse) => {
    if (accept(req, res) !== undefined) sendEnvelope(res, EXPECTATION_UNKNOWN);
  };
  // Node emits `checkContinue` for any list that contains 100-continue.
  server.on('checkContinue', (req, res) => {
    if (!CONTINUE.test(req.headers.expect ?? '')) return refuseExpectation(req, res);
    holdContinue(req, res);
    handle(req, res);
  });
  server.on('checkExpectation', refuseExpectation);
  server.on('connect', (_req, stream) => answerRaw(stream as Socket, CONNECT_REFUSED));
  server.on('clientError', (error: Error & { code?: string }, stream) => {
    const socket = stream as Socket;
    const connection = connections.get(socket);
    const current = connection?.current;
    if (connection?.lingering) return;
    if (error.code === 'ECONNRESET' || current?.headersSent) return void socket.destroy();
    const presentation = presentProtocolError(error.code, deadlineMs, current !== undefined);
    if (current === undefined) return answerRaw(socket, presentation);
    breakOff(current.req, error);
    sendEnvelope(current, presentation);
  });

  const port = await listener.open(options.port, options.host);
  if (options.metrics !== undefined) {
    acceptDelay = watchAcceptDelay(server, { port, host: options.host }, (waitedMs, isOver) =>
      shedding.observe(waitedMs, isOver),
    );
    instrumentsOf(options.metrics.registry).reading(
      'http_server_accept_delay_seconds',
      'Longest time that a connection waited to be accepted since the last scrape.',
      () => (acceptDelay?.takeWorst() ?? 0) / 1000,
    );
  }
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  return {
    url: `http${secured ? 's' : ''}://${host}:${port}`,
    port,
    server,
    /** Refuses new connections, closes idle ones, and ends busy ones after their answer. */
    async withdraw(): Promise<void> {
      withdrawn = true;
      for (const connection of connections.values()) connection.retire();
      await emptyQueue(server);
      void listener.close();
      for (const [socket, connection] of connections) {
        if (!connection.isBusy) socket.destroy();
      }
    },
    /** Accepts connections again, on the same port. */
    async offer(): Promise<void> {
      await listener.open(port, options.host);
      withdrawn = false;
    },
    /**
     * Stops accepting, finishes requests in progress (their answers have `Connection: close`), closes idle connections,
     * and cuts the remaining ones after `graceMs`. A gateway may send a request on an idle connection before it learns
     * that the connection is closed: with `idleGraceMs`, idle connections stay open that long and such a request is
     * answered.
     */
    async stop(grace: GracefulStop): Promise<void> {
      draining = true;
      acceptDelay?.stop();
      for (const connection of connections.values()) connection.retire();
      await stopGracefully({ server, listener, connections }, grace, () => {
        idleOver = true;
      });
      clearInterval(looking);
      tls?.close();
    },
  };
}

export type ApiServer = Awaited<ReturnType<typeof startApiServer>>;
