import { type Field, integer } from './fields.ts';

/** The limits of the concurrent work of one process. They fit the default memory limit of 512 MiB. */
export const LIMITS = {
  // See LIMITS_SPEC.
  requestsInFlightMax: 1000,
  requestsInFlightPerAddressMax: 250,
  requestsInFlightPerAccountMax: 64,
  /** Open connections; one more closes an idle one. */
  connectionsMax: 4096,
  /** Delay of new connections above which callers that were not recently served are refused. */
  overloadDelayMs: 500,
  /** Pipelined requests on one connection; one more closes it. */
  requestsInFlightPerConnectionMax: 16,
  /** Requests whose body is still arriving; one more ends one of the network that has most. */
  bodiesInFlightMax: 256,
  /** Memory for these bodies; more ends one of the network that has most. */
  bodyBytesInFlightMax: 16 * 1024 * 1024,
  /** Memory for answers that clients have not read yet; more ends the oldest. */
  answerBytesInFlightMax: 64 * 1024 * 1024,
  /** Time for a client to read an answer. */
  writeTimeoutMs: 30_000,
};

export type Limits = Readonly<typeof LIMITS>;

const requests = (fallback: number, doc: string): Field<number> =>
  integer({ min: 1, max: 100_000, default: fallback, doc, unit: 'requests' });

/** The limits that a deployment of many callers raises. */
export const LIMITS_SPEC = {
  requestsInFlightMax: requests(
    LIMITS.requestsInFlightMax,
    'Requests in progress; more are refused, and above half of it callers that were not recently served',
  ),
  requestsInFlightPerAddressMax: requests(
    LIMITS.requestsInFlightPerAddressMax,
    'Requests in progress from one client address, or one /64 of IPv6',
  ),
  requestsInFlightPerAccountMax: requests(
    LIMITS.requestsInFlightPerAccountMax,
    'Requests in progress of one account',
  ),
} as const;
