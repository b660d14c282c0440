/**
 * The questions of protocol.pv, in its order. The last two must be refuted: they say that nothing is ever accepted, neither call
 * nor answer.
 */
export const QUERIES = [
  'accepted-as-issued',
  'accepted-as-asked',
  'accepted-once',
  'once-per-request',
  'intern-isolation',
  'token-alone',
  'named-as-shown',
  'sent-as-oneself',
  'answered-to-this-call',
  'key-of-its-time',
  'reachable',
  'answer-reachable',
] as const;
export type Query = (typeof QUERIES)[number];

export interface Scenario {
  /** The marks whose lines of protocol.pv are there. */
  readonly marks: ReadonlySet<string>;
  /** What does not hold, as SECURITY.md says. */
  readonly refuted: readonly Query[];
}

const scenario = (marks: string, ...refuted: Query[]): Scenario => ({
  marks: new Set(marks.split(' ')),
  refuted: [...refuted, 'reachable', 'answer-reachable'],
});

/** Whoever answers for the key set of a daemon without a root can sign anything for it. */
const BY_OWN_KEY = [
  'accepted-as-issued',
  'accepted-as-asked',
  'once-per-request',
  'intern-isolation',
  'named-as-shown',
] as const;
/** Whoever sees an unbound token can use it. */
const BY_TOKEN = ['accepted-as-asked', 'once-per-request', 'token-alone', 'named-as-shown'] as const;

export const SCENARIOS = {
  'bound sessions, keys in the configuration': scenario('bound pinned'),
  'bound sessions, rooted key sets': scenario('bound rooted'),
  'bound sessions, key sets without a root': scenario(
    'bound fetched',
    ...BY_OWN_KEY,
    'answered-to-this-call',
    'key-of-its-time',
  ),
  'unbound sessions, rooted key sets': scenario('bearer rooted', ...BY_TOKEN),
  'both kinds of session, rooted key sets': scenario('bound bearer mixed rooted'),
} as const satisfies Record<string, Scenario>;
export type ScenarioName = keyof typeof SCENARIOS;
