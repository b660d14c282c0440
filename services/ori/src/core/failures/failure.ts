import type { ExitCode } from '../exit-codes.ts';

/** A failure and its message. Facts may contain text of the user or of a server, never a token. */
export interface Failure<Facts> {
  readonly exit: ExitCode;
  readonly what: (facts: Facts) => string;
  readonly next: (facts: Facts) => string;
}

export const failure = <Facts>(it: Failure<Facts>): Failure<Facts> => it;
