import { type DestinationStream, type Logger, pino } from 'pino';
import { createLogSink } from './log-sink.ts';
import { scrub, scrubDeep } from './scrub.ts';

export { describeError, type ErrorDescription } from './scrub.ts';
export type { Logger };

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const STDOUT = 1;

export interface LoggerOptions {
  service: string;
  level: LogLevel;
  /** Standard output unless given. */
  destination?: DestinationStream;
}

/**
 * A log of JSON lines. Whatever is handed to it is scrubbed first: by name (authorization, cookies, `x-ori-*`,
 * tokens, secrets, seeds, bodies), by shape (JWTs, API keys, signatures, user information in URLs), and errors keep
 * class, code and messages only. The fields of a child logger are scrubbed by shape alone. Scrubbing is the second line of defence: do not hand it a secret.
 */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const fields = (value: object) => scrubDeep(value) as Record<string, unknown>;
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are described by the formatter; pino's own way would print their stack and properties.
      serializers: { err: (described: unknown) => described },
      formatters: { level: (label) => ({ level: label }), log: fields, bindings: fields },
    },
    scrubbed(destination ?? createLogSink(STDOUT, service)),
  );
}

/** The whole line by shape: pino takes some of its text (an error's message, a child's fields) past the formatter. */
function scrubbed(destination: DestinationStream): DestinationStream {
  return { write: (line) => destination.write(scrub(line)) };
}
