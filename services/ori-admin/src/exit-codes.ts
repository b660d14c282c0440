/** The exit codes of `ori-admin`. Scripts depend on these numbers: add, never renumber. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unavailable: 6,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One line each, for `--help`. */
export const EXIT_MEANINGS: ReadonlyArray<readonly [ExitCode, string]> = [
  [EXIT.ok, 'done'],
  [EXIT.unexpected, 'unexpected failure that no other code describes'],
  [EXIT.usage, 'the command line, the environment or a value cannot be used; nothing was done'],
  [EXIT.notFound, 'an object that the command names does not exist'],
  [EXIT.conflict, 'existing data or the state of the system forbids it'],
  [EXIT.unavailable, 'the database cannot be reached or did not answer in time; try again later'],
];
