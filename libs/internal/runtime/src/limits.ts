import { type Config, loadConfig } from './config.ts';
import { type Field, integer } from './fields.ts';

const count = (fallback: number, doc: string, unit = 'requests'): Field<number> =>
  integer({ min: 1, max: 100_000, default: fallback, doc, unit });

/** The settings that limit the concurrent work of one process. The defaults fit the default memory limit of 512 MiB. */
export const LIMITS_SPEC = {
  requestsInFlightMax: count(
    1000,
    'Requests in progress; more are refused, and above half of it callers that were not recently served',
  ),
  requestsInFlightPerAddressMax: count(
    250,
    'Requests in progress from one client address, or one /64 of IPv6',
  ),
  requestsInFlightPerAccountMax: count(64, 'Requests in progress of one account'),
  connectionsMax: count(4096, 'Open connections; one more closes an idle one', 'connections'),
  overloadDelayMs: integer({
    min: 50,
    max: 600_000,
    default: 500,
    doc: 'Delay of new connections above which callers that were not recently served are refused',
    unit: 'ms',
  }),
} as const;

/** What no deployment sets. */
const FIXED = {
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

export type Limits = Config<typeof LIMITS_SPEC> & Readonly<typeof FIXED>;

export const LIMITS: Limits = { ...FIXED, ...loadConfig('LIMITS', LIMITS_SPEC, {}) };
