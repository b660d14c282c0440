import type { ExitCode } from '../core/exit-codes.ts';

/** How a failure is told, with the facts that it comes with. */
export interface Sentence<Facts> {
  readonly exit: ExitCode;
  /** What happened. */
  readonly what: (facts: Facts) => string;
  /** What to do next. */
  readonly next: (facts: Facts) => string;
}
