import { type Field, integer } from './fields.ts';

/** Limits on the concurrent work of one process. The defaults fit the shipped memory limit of 512 MiB. */
export interface Limits {
  /** Requests whose answer has not ended: of the process, of a client address (an IPv6 /64), of a connection, of an account. */
  readonly requestsInFlightMax: number;
  readonly requestsInFlightPerAddressMax: number;
  readonly requestsInFlightPerConnectionMax: number;
  readonly requestsInFlightPerAccountMax: number;
  readonly connectionsMax: number;
  /** Requests of which a body is still coming, and what of such bodies is kept. */
  readonly bodiesInFlightMax: number;
  readonly bodyBytesInFlightMax: number;
  /** What of answers clients have not taken yet, and for how long they may not. */
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
  requestsInFlightMax: count('requestsInFlightMax', 100_000, 'Requests under way; more are refused'),
  requestsInFlightPerAddressMax: count(
    'requestsInFlightPerAddressMax',
    100_000,
    'Of these, from one client address, or one /64 of IPv6',
  ),
  requestsInFlightPerConnectionMax: count(
    'requestsInFlightPerConnectionMax',
    1000,
    'Of these, sent on one connection without waiting for an answer; one more closes it',
  ),
  requestsInFlightPerAccountMax: count('requestsInFlightPerAccountMax', 100_000, 'Of these, of one account'),
  connectionsMax: count(
    'connectionsMax',
    100_000,
    'Open connections; one more closes one that is idle',
    'connections',
  ),
  bodiesInFlightMax: count(
    'bodiesInFlightMax',
    100_000,
    'Requests whose body is still coming; one more ends the one that has waited longest',
  ),
  bodyBytesInFlightMax: count(
    'bodyBytesInFlightMax',
    1_073_741_824,
    'What is kept of these bodies; more ends the one that has waited longest',
    'bytes',
  ),
  answerBytesInFlightMax: count(
    'answerBytesInFlightMax',
    1_073_741_824,
    'What clients have not taken yet of their answers; more ends the one that has waited longest',
    'bytes',
  ),
  writeTimeoutMs: integer({
    min: 100,
    max: 600_000,
    default: LIMITS.writeTimeoutMs,
    doc: 'Time for a client to take an answer',
    unit: 'ms',
  }),
} as const;
