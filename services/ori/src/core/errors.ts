import type { ExitCode } from './exit-codes.ts';
import type { Failure } from './failures/failure.ts';
import { FAILURES } from './failures/failures.ts';

export type CliErrorCode = keyof typeof FAILURES;
type CliErrorFacts = { readonly [Code in CliErrorCode]: Parameters<(typeof FAILURES)[Code]['what']>[0] };

const BY_CODE: { readonly [Code in CliErrorCode]: Failure<CliErrorFacts[Code]> } = FAILURES;

/**
 * A failure with its own message. `facts` may contain text from a server, which is escaped when printed, but never a
 * token. Any error that is not a CliError is a defect of `ori`, with exit code 1.
 */
export class CliError<Code extends CliErrorCode = CliErrorCode> extends Error {
  override readonly name = 'CliError';
  readonly code: Code;
  readonly facts: CliErrorFacts[Code];

  constructor(code: Code, facts: CliErrorFacts[Code], options?: ErrorOptions) {
    super(code, options);
    this.code = code;
    this.facts = facts;
  }
}

/** True for a failure with this code; narrows the type of its facts. */
export function isCliError<Code extends CliErrorCode>(error: unknown, code: Code): error is CliError<Code> {
  return error instanceof CliError && error.code === code;
}

export interface FailureMessage {
  readonly exit: ExitCode;
  readonly what: string;
  readonly next: string;
}

/** The message of a failure. May contain text from a server, which the caller escapes. */
export function messageOf<Code extends CliErrorCode>({ code, facts }: CliError<Code>): FailureMessage {
  const { exit, what, next } = BY_CODE[code];
  return { exit, what: what(facts), next: next(facts) };
}
