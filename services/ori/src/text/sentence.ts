import type { CliErrorCode, CliErrorFacts } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-codes.ts';

export interface Sentence<Facts> {
  readonly exit: ExitCode;
  readonly what: (facts: Facts) => string;
  readonly next: (facts: Facts) => string;
}

export type Sentences = { readonly [Code in CliErrorCode]: Sentence<CliErrorFacts[Code]> };
