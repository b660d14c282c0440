import { CliError, messageOf } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';

/** A failure for programs. `code` and `exit` are stable; members without a value are left out of the JSON. */
export interface FailureRecord {
  readonly code: string;
  readonly exit: ExitCode;
  readonly message: string;
  readonly next: string;
  readonly status?: unknown;
  /** In seconds. */
  readonly retry_after?: unknown;
  readonly request_id?: unknown;
  readonly trace_id?: unknown;
}

/**
 * The record of any error. May contain text from a server, which the caller escapes.
 *
 * @param profile named by `--profile`: what it advises to do is for that profile too
 */
export function recordOf(error: unknown, profile?: string): FailureRecord {
  if (!(error instanceof CliError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const next = 'This is a defect of ori; please report it.';
    return { code: 'defect', exit: EXIT.unexpected, message, next };
  }
  const { exit, what, next } = messageOf(error);
  const { status, retryAfterSeconds, requestId, traceId } = error.facts as Partial<Record<string, unknown>>;
  const figures = { status, retry_after: retryAfterSeconds, request_id: requestId, trace_id: traceId };
  const ori = profile === undefined ? 'ori ' : `ori --profile ${profile} `;
  return {
    code: error.code,
    exit,
    message: what,
    next: next.replaceAll(/\bori (?=log(?:in|out)\b)/g, ori),
    ...figures,
  };
}
