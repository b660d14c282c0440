import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Admission } from './admission.ts';
import { holdContinue } from './body.ts';
import { type Connection, watchConnection } from './connection.ts';
import { cutUnread, makeRoom } from './connection-limits.ts';
import { type Presentation, sendEnvelope } from './envelope.ts';
import { messagesOf } from './express-messages.ts';
import { emptyQueue, stopGracefully } from './graceful-stop.ts';
import {
  CONNECT_REFUSED,
  EXPECTATION_UNKNOWN,
  judgeHead,
  presentProtocolError,
  renderRawAnswer,
} from './protocol-errors.ts';
import { createReception } from './reception.ts';
import type { ApiServer, ApiServerOptions } from './server-options.ts';
import { followListenerTls, readListenerTls } from './tls.ts';

const HEADER_BYTES_MAX = 16 * 1024;
/** How often connections with a late or partial head are checked, in milliseconds. */
const CHECK_INTERVAL_MS = 100;
/** Longer than the idle timeout of common gateways, so that the gateway closes the connection. */
const KEEP_ALIVE_MS = 75_000;
/** The parser's own limit on a whole request only backs up the deadline, which answers first. */
const BACKSTOP_MS = 1000;

export type { Sinks } from './request-line.ts';
export type { ApiServer, ApiServerOptions } from './server-options.ts';

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

  const accept = createReception(options, {
    connections,
    admission,
    isClosing: () => draining || withdrawn,
    isIdleOver: () => idleOver,
  });

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
