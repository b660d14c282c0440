import type { CliErrorCode, CliErrorFacts } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-codes.ts';

/** The message of a failure, built from its facts. */
export interface Sentence<Facts> {
  readonly exit: ExitCode;
  /** What happened. */
  readonly what: (facts: Facts) => string;
  /** What to do next. */
  readonly next: (facts: Facts) => string;
}

export type Sentences = { readonly [Code in CliErrorCode]: Sentence<CliErrorFacts[Code]> };
