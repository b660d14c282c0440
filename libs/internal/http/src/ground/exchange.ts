import type { IncomingMessage } from 'node:http';
import type { Client } from './client.ts';
import type { Deadline } from './deadline.ts';
import type { Presentation } from './presentation.ts';

/** What a request reports to the limits on concurrent work. */
interface RequestAdmission {
  /** @throws {BusyError} `account` */
  enterAccount(account: string): void;
  /** @param end called if the body must make room for others */
  holdBody(network: string, end: () => void): { grow(bytes: number): void; release(): void };
}

/** The state of one request besides its bytes, created by the API server. */
export interface Exchange {
  readonly requestId: string;
  readonly client: Client;
  /** The network that the client's address counts as: itself for IPv4, its /64 for IPv6. */
  readonly network: string;
  /** `performance.now()` at the first byte of the request. */
  readonly receivedAt: number;
  readonly deadline: Deadline;
  readonly admission: RequestAdmission;
  /** The account that this request counts towards; set by {@link countFor}. */
  account: string | undefined;
  /** The route's template, set by the router; a request that matched none has no route. */
  route: string | undefined;
  /** The response at the deadline, if it is not 408; set by the router. */
  deadlineAnswer?: Presentation;
  /** Set when the whole body was read, which may be before the request is complete. */
  isBodyRead?: boolean;
  /** The failure behind an error answer, for the log. */
  error: unknown;
  /** Additional fields for the request's log line; never a token, a key, a body or a raw path. */
  readonly facts: Record<string, string | number | boolean>;
}

/**
 * Stored on the request itself: a weak map of all requests in progress costs more garbage collection than
 * the requests themselves.
 */
const EXCHANGE = Symbol('exchange');

type Exchanged = IncomingMessage & { [EXCHANGE]?: Exchange };

export function beginExchange(req: IncomingMessage, exchange: Exchange): void {
  (req as Exchanged)[EXCHANGE] = exchange;
}

/** The exchange of a request; `undefined` for a request that did not come through the API server. */
export function findExchange(req: IncomingMessage): Exchange | undefined {
  return (req as Exchanged)[EXCHANGE];
}

/**
 * Counts a request towards an account until its answer has ended. Call it once per request, when its caller is known.
 *
 * @throws {BusyError} `account`, if too many requests of the account are in progress
 */
export function countFor(exchange: Exchange, account: string): void {
  if (exchange.account !== undefined)
    throw new TypeError('countFor: this request already counts towards an account');
  exchange.admission.enterAccount(account);
  exchange.account = account;
}

/** The exchange of a request that came through the API server. @throws {TypeError} for any other request. */
export function exchangeOf(req: IncomingMessage): Exchange {
  const exchange = findExchange(req);
  if (exchange === undefined) throw new TypeError('this request did not come through startApiServer');
  return exchange;
}
