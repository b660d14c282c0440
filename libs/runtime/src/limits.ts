import { type Field, integer } from './fields.ts';

/** Limits on the concurrent work of one process. The defaults fit the default memory limit of 512 MiB. */
export interface Limits {
  /** Requests in progress: in the process, from a client address (an IPv6 /64), on a connection, of an account. */
  readonly requestsInFlightMax: number;
  readonly requestsInFlightPerAddressMax: number;
  readonly requestsInFlightPerConnectionMax: number;
  readonly requestsInFlightPerAccountMax: number;
  readonly connectionsMax: number;
  /** Requests whose body is still arriving, and the memory for such bodies. */
  readonly bodiesInFlightMax: number;
  readonly bodyBytesInFlightMax: number;
  /** Answers that clients have not read yet, and how long they may take. */
  readonly answerBytesInFlightMax: number;
  readonly writeTimeoutMs: number;
}

export const LIMITS: Limits = {
  requestsInFlightMax: 1000,
  requestsInFlightPerAddressMax: 250,
  requestsInFlightPerConnectionMax: 16,
  requestsInFlightPerAccountMax: 64,
  connectionsMax: 4096,
  bodiesInFlightMax: 256,
  bodyBytesInFlightMax: 16 * 1024 * 1024,
  answerBytesInFlightMax: 64 * 1024 * 1024,
  writeTimeoutMs: 30_000,
};

const count = (name: keyof Limits, most: number, doc: string, unit = 'requests'): Field<number> =>
  integer({ min: 1, max: most, default: LIMITS[name], doc, unit });

/** The settings of a service's environment that limit its concurrent work. */
export const LIMITS_SPEC = {
  requestsInFlightMax: count('requestsInFlightMax', 100_000, 'Requests in progress; more are refused'),
  requestsInFlightPerAddressMax: count(
    'requestsInFlightPerAddressMax',
    100_000,
    'Requests in progress from one client address, or one /64 of IPv6',
  ),
  requestsInFlightPerConnectionMax: count(
    'requestsInFlightPerConnectionMax',
    1000,
    'Pipelined requests on one connection; one more closes it',
  ),
  requestsInFlightPerAccountMax: count(
    'requestsInFlightPerAccountMax',
    100_000,
    'Requests in progress of one account',
  ),
  connectionsMax: count(
    'connectionsMax',
    100_000,
    'Open connections; one more closes an idle one',
    'connections',
  ),
  bodiesInFlightMax: count(
    'bodiesInFlightMax',
    100_000,
    'Requests whose body is still arriving; one more ends the oldest',
  ),
  bodyBytesInFlightMax: count(
    'bodyBytesInFlightMax',
    1_073_741_824,
    'Memory for these bodies; more ends the oldest',
    'bytes',
  ),
  answerBytesInFlightMax: count(
    'answerBytesInFlightMax',
    1_073_741_824,
    'Memory for answers that clients have not read yet; more ends the oldest',
    'bytes',
  ),
  writeTimeoutMs: integer({
    min: 100,
    max: 600_000,
    default: LIMITS.writeTimeoutMs,
    doc: 'Time for a client to read an answer',
    unit: 'ms',
  }),
} as const;
