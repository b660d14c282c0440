/** Exit codes. Scripts depend on them: add, never renumber. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  signInNeeded: 3,
  refused: 4,
  rateLimited: 5,
  unavailable: 6,
  daemonRefused: 7,
  daemonFailed: 8,
  answerLost: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One line each, for `--help`. */
export const EXIT_MEANINGS: ReadonlyArray<readonly [ExitCode, string]> = [
  [EXIT.ok, 'done'],
  [EXIT.unexpected, 'an unexpected failure'],
  [EXIT.usage, 'the command line, or a file or address in it, cannot be used'],
  [EXIT.signInNeeded, 'not signed in, or the session ended: ori login'],
  [EXIT.refused, 'refused by the API or the OpenID issuer'],
  [EXIT.rateLimited, 'too many turns; the message says when to try again'],
  [EXIT.unavailable, 'a server cannot be reached, timed out or failed; try again later'],
  [EXIT.daemonRefused, 'the daemon refused the call (any answer but 2xx and 5xx)'],
  [EXIT.daemonFailed, 'the daemon failed (5xx)'],
  [EXIT.answerLost, 'the answer is lost; the call may have been carried out'],
  [EXIT.interrupted, 'interrupted (Ctrl-C); after another signal, 128 and its number'],
];
