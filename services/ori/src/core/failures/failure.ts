import { EXIT, type ExitCode } from '../exit-codes.ts';

/** A failure and its message. Facts may contain text of the user or of a server, never a token. */
export interface Failure<Facts> {
  readonly exit: ExitCode;
  readonly what: (facts: Facts) => string;
  readonly next: (facts: Facts) => string;
}

const ending =
  (exit: ExitCode) =>
  <Facts>(message: Omit<Failure<Facts>, 'exit'>): Failure<Facts> => ({ exit, ...message });

/** Makes a failure, by its exit code. */
export const failure = {
  unexpected: ending(EXIT.unexpected),
  usage: ending(EXIT.usage),
  signInNeeded: ending(EXIT.signInNeeded),
  refused: ending(EXIT.refused),
  rateLimited: ending(EXIT.rateLimited),
  unavailable: ending(EXIT.unavailable),
  daemonRefused: ending(EXIT.daemonRefused),
  daemonFailed: ending(EXIT.daemonFailed),
  answerLost: ending(EXIT.answerLost),
  interrupted: ending(EXIT.interrupted),
};
