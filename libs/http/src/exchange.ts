import type { IncomingMessage } from 'node:http';
import type { Admission } from './admission.ts';
import type { Client } from './client.ts';
import type { Deadline } from './deadline.ts';
import type { Presentation } from './envelope.ts';

/** What a service knows about one request besides its bytes; made by the API server, one per request. */
export interface Exchange {
  readonly requestId: string;
  readonly client: Client;
  /** The network that the client's address counts for: itself for IPv4, its /64 for IPv6. */
  readonly network: string;
  /** `performance.now()` at the first byte of the request. */
  readonly receivedAt: number;
  readonly deadline: Deadline;
  readonly admission: Admission;
  /** The account that this request counts for; set by {@link countFor}. */
  account: string | undefined;
  /** The route's template, set by the router; a request that matched none has no route. */
  route: string | undefined;
  /** The response at the deadline if the route does not answer 408; set by the router. */
  deadlineAnswer?: Presentation;
  /** The failure behind an error answer, for the log. */
  error: unknown;
  /** Further facts for the request's log line; never a token, a key, a body or a raw path. */
  readonly facts: Record<string, string | number | boolean>;
}

/** On the request itself: a weak map of all requests under way costs the garbage collector more than they do. */
const EXCHANGE = Symbol('exchange');

type Exchanged = IncomingMessage & { [EXCHANGE]?: Exchange };

export function beginExchange(req: IncomingMessage, exchange: Exchange): void {
  (req as Exchanged)[EXCHANGE] = exchange;
}

/** The exchange of a request, or `undefined` for a request that did not come through the API server. */
export function findExchange(req: IncomingMessage): Exchange | undefined {
  return (req as Exchanged)[EXCHANGE];
}

/**
 * Counts a request for an account until its answer has ended. Once per request, when its caller is known.
 *
 * @throws {BusyError} `account`, where too many of the account are under way
 */
export function countFor(exchange: Exchange, account: string): void {
  if (exchange.account !== undefined) throw new TypeError('this request counts for an account already');
  exchange.admission.enterAccount(account);
  exchange.account = account;
}

/** The exchange of a request that came through the API server. @throws {TypeError} for any other request. */
export function exchangeOf(req: IncomingMessage): Exchange {
  const exchange = findExchange(req);
  if (exchange === undefined) throw new TypeError('this request did not come through startApiServer');
  return exchange;
}
