import { type Config, loadConfig } from './config.ts';
import { type Field, integer } from './fields.ts';

const count = (fallback: number, most: number, doc: string, unit = 'requests'): Field<number> =>
  integer({ min: 1, max: most, default: fallback, doc, unit });

/** The settings that limit the concurrent work of one process. The defaults fit the default memory limit of 512 MiB. */
export const LIMITS_SPEC = {
  requestsInFlightMax: count(
    1000,
    100_000,
    'Requests in progress; more are refused, and above half of it callers that were not recently served',
  ),
  requestsInFlightPerAddressMax: count(
    250,
    100_000,
    'Requests in progress from one client address, or one /64 of IPv6',
  ),
  requestsInFlightPerConnectionMax: count(
    16,
    1000,
    'Pipelined requests on one connection; one more closes it',
  ),
  requestsInFlightPerAccountMax: count(64, 100_000, 'Requests in progress of one account'),
  connectionsMax: count(4096, 100_000, 'Open connections; one more closes an idle one', 'connections'),
  bodiesInFlightMax: count(256, 100_000, 'Requests whose body is still arriving; one more ends the oldest'),
  bodyBytesInFlightMax: count(
    16 * 1024 * 1024,
    1_073_741_824,
    'Memory for these bodies; more ends the oldest',
    'bytes',
  ),
  answerBytesInFlightMax: count(
    64 * 1024 * 1024,
    1_073_741_824,
    'Memory for answers that clients have not read yet; more ends the oldest',
    'bytes',
  ),
  overloadDelayMs: integer({
    min: 50,
    max: 600_000,
    default: 500,
    doc: 'Delay of new connections above which callers that were not recently served are refused',
    unit: 'ms',
  }),
  writeTimeoutMs: integer({
    min: 100,
    max: 600_000,
    default: 30_000,
    doc: 'Time for a client to read an answer',
    unit: 'ms',
  }),
} as const;

export type Limits = Config<typeof LIMITS_SPEC>;

/** The defaults. */
export const LIMITS: Limits = loadConfig('LIMITS', LIMITS_SPEC, {});
