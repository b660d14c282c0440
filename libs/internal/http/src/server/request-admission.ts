import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Budget } from '@ori/runtime/metrics';
import { BodyError } from '../ground/body.ts';
import { clientOf, requestIdOf } from '../ground/client.ts';
import type { Connection } from '../ground/connection.ts';
import { Deadline, DeadlineError, presentDeadline } from '../ground/deadline.ts';
import { sendEnvelope } from '../ground/envelope.ts';
import { beginExchange, type Exchange } from '../ground/exchange.ts';
import { governKeepAlive } from '../ground/keep-alive.ts';
import type { Presentation } from '../ground/presentation.ts';
import { observe, type Sinks } from '../observe/request-line.ts';
import { type Admission, networkOf } from '../overload/admission.ts';
import type { Sender, Shedding } from '../overload/shedding.ts';
import type { ApiServerOptions } from './server-options.ts';

const BUSY: Presentation = {
  status: 500,
  message: 'The service is overloaded. Repeat the request later.',
  reason: 'internal_error',
  retryable: true,
  headers: { 'Retry-After': '1' },
};

/** The state of a server. */
interface ServerState {
  readonly connections: ReadonlyMap<Socket, Connection>;
  readonly admission: Admission;
  readonly shedding: Shedding;
  /** Whether each connection closes after its next answer. */
  isClosing(): boolean;
  /** Whether no connection may become idle again. */
  isIdleOver(): boolean;
}

/** Admits requests: gives each its exchange and deadline, and records it after its answer. */
export function createRequestAdmission(
  options: ApiServerOptions,
  { connections, admission, shedding, isClosing, isIdleOver }: ServerState,
): (req: IncomingMessage, res: ServerResponse) => Exchange | undefined {
  const { deadlineMs, trustGateway = false } = options;
  const { limits } = admission;

  /** Admits a request; undefined if it was refused because a limit was reached. */
  function accept(req: IncomingMessage, res: ServerResponse): Exchange | undefined {
    const connection = connections.get(req.socket);
    if (connection?.isRefused) return undefined;
    const client = clientOf(req, trustGateway);
    const network = networkOf(client.address);
    const isCrowded = (connection?.openAnswers ?? 0) >= limits.requestsInFlightPerConnectionMax;
    const now = performance.now();
    const receivedAt = connection?.firstByteAt ?? now;
    const requestId = requestIdOf(req, trustGateway);
    connection?.begin(res);
    res.setHeader('X-Request-Id', requestId);
    governKeepAlive(req, res, {
      connection,
      isFromGateway: trustGateway,
      isClosing: () => isClosing() || connection?.isRefused === true,
    });
    const sinks = options.sinksOf?.(req) ?? options;
    sinks.metrics?.requestStarted();
    const sender = senderOf(req, network);
    const exhausted = isCrowded
      ? 'connection'
      : shedding.admits(sender, admission.isHalfFull, now)
        ? admission.enter(network)
        : 'overload';
    if (exhausted !== undefined) {
      refuse(req, res, { budget: exhausted, receivedAt, sinks, connection });
      return undefined;
    }
    const expire = () => {
      if (res.headersSent) return;
      exchange.error ??= new DeadlineError(deadlineMs);
      sendEnvelope(res, exchange.deadlineAnswer ?? presentDeadline(deadlineMs));
    };
    const deadline = new Deadline(deadlineMs, receivedAt, expire, now);
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
    res.on('close', () => {
      if (res.writableFinished) deadline.clear();
      else deadline.abandon(new BodyError('body_aborted', 'the client disconnected before the answer'));
      admission.leave(network, exchange.account);
      // Other routes are public: a request to them must not make its sender known.
      const endedAt = performance.now();
      if (exchange.account !== undefined) count(sender, res.statusCode, endedAt);
      settle(req, res, connection);
      observe(req, res, { exchange, endedAt, sinks });
    });
    return exchange;
  }

  function count(sender: Sender, status: number, now: number): void {
    if (status < 300) shedding.served(sender, now);
    // In overload, 408 is as likely the fault of the process.
    else if (status >= 400 && status < 500 && status !== 408) shedding.refused(sender);
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
    res.on('close', () => {
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
    // If the head of the answer was sent before the stop began, the client may still reuse the connection.
    if (wasLast && isIdleOver()) req.socket.destroySoon();
  }

  return accept;
}

function senderOf(req: IncomingMessage, network: string): Sender {
  const { authorization } = req.headers;
  return {
    network,
    credential: () => (authorization === undefined ? undefined : hash('sha256', authorization, 'base64')),
  };
}
