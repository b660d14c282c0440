import type { Configuration, Issue } from './configuration.ts';

const ISSUE: Issue = { intern: 0, user: 0, body: 0, path: 0, draw: 'fresh', by: 'signer' };

const NOTHING: Configuration = {
  store: 'redis',
  mode: 'spend',
  verifiers: [
    { intern: 0, acceptV1: false },
    { intern: 0, acceptV1: false },
  ],
  interns: 1,
  sharedKey: false,
  servers: 1,
  replicas: 0,
  entriesMax: 100,
  timeMax: 3,
  proofsMax: 2,
  faultsMax: 0,
  issues: [ISSUE],
  forms: ['pair'],
  changes: ['none'],
  answers: [],
  faults: [],
  clocks: [0],
  streams: false,
  rotatesAt: undefined,
  recoversWithin: 3,
  broken: new Set(),
};

/** The explored configurations, each small enough to be explored completely. */
export const CONFIGURATIONS = {
  /** Two interns with one key, an ending key and a beginning one, a thief of either, and every field altered in transit. */
  wire: {
    ...NOTHING,
    store: 'memory',
    verifiers: [
      { intern: 0, acceptV1: false },
      { intern: 1, acceptV1: true },
    ],
    interns: 2,
    sharedKey: true,
    timeMax: 4,
    issues: [
      ISSUE,
      { ...ISSUE, intern: 1 },
      { ...ISSUE, intern: 1, user: 1, body: 1, path: 1 },
      { ...ISSUE, intern: 1, draw: 'again' },
      { ...ISSUE, by: 'thief-of-old-key' },
      { ...ISSUE, by: 'thief-of-next-key' },
    ],
    forms: ['pair', 'stripped'],
    changes: ['none', 'user', 'body', 'path', 'method', 'nonce', 'at', 'forged'],
    rotatesAt: 2,
  },
  /** One process with clock steps and restarts; bodies that are still arriving. */
  memory: {
    ...NOTHING,
    store: 'memory',
    verifiers: [{ intern: 0, acceptV1: false }],
    timeMax: 3,
    faultsMax: 3,
    faults: ['restart', 'verifier-clock'],
    clocks: [-3, 0, 2],
    streams: true,
    recoversWithin: 8,
  },
  /** A store with room for two of three proofs. */
  'memory-full': {
    ...NOTHING,
    store: 'memory',
    verifiers: [{ intern: 0, acceptV1: false }],
    entriesMax: 2,
    timeMax: 6,
    proofsMax: 3,
    faultsMax: 1,
    faults: ['verifier-clock'],
    clocks: [0, 1, 5],
    recoversWithin: 12,
  },
  /** Two verifiers in one process, one of which accepts version 1; two proofs that may share a version 1 id. */
  'memory-v1': {
    ...NOTHING,
    store: 'memory',
    verifiers: [
      { intern: 0, acceptV1: false },
      { intern: 0, acceptV1: true },
    ],
    timeMax: 4,
    faultsMax: 1,
    issues: [ISSUE, { ...ISSUE, user: 1 }],
    forms: ['pair', 'stripped'],
    faults: ['restart'],
  },
  /** One server that loses its data, or may evict it at any time. */
  redis: {
    ...NOTHING,
    faultsMax: 2,
    faults: ['flush', 'crash', 'policy'],
  },
  /** An old state returns under the same replication id, and checks find the server unsafe. */
  'redis-swapped': {
    ...NOTHING,
    proofsMax: 1,
    faultsMax: 4,
    faults: ['swap', 'policy'],
  },
  /** Lost requests and answers, and a server that is emptied. */
  'redis-answers': {
    ...NOTHING,
    answers: ['question-lost', 'answer-lost'],
    faultsMax: 1,
    faults: ['flush'],
  },
  /** One server, with clocks of verifiers and signer inside and outside the tolerance. */
  'redis-clocks': {
    ...NOTHING,
    proofsMax: 1,
    faultsMax: 3,
    faults: ['flush', 'restart', 'verifier-clock', 'signer-clock'],
    clocks: [-2, -1, 0, 1, 2],
  },
  /** All clocks of a host step together, ids are forgotten, and scripts end half-way. */
  'redis-forgetting': {
    ...NOTHING,
    timeMax: 2,
    faultsMax: 2,
    answers: ['cut-short'],
    faults: ['all-clocks'],
    clocks: [0, 5],
    recoversWithin: 5,
  },
  /** One verifier accepts version 1 and the other does not. */
  'redis-v1': {
    ...NOTHING,
    verifiers: [
      { intern: 0, acceptV1: false },
      { intern: 0, acceptV1: true },
    ],
    faultsMax: 1,
    issues: [ISSUE, { ...ISSUE, user: 1 }],
    forms: ['pair', 'stripped'],
    faults: ['flush', 'signer-clock'],
  },
  /** Daemons that redeem, two interns, a thief with the signing key, a random source that repeats itself. */
  'redis-redeem': {
    ...NOTHING,
    mode: 'redeem',
    verifiers: [
      { intern: 0, acceptV1: false },
      { intern: 1, acceptV1: false },
    ],
    interns: 2,
    sharedKey: true,
    faultsMax: 1,
    issues: [
      ISSUE,
      { ...ISSUE, draw: 'again', body: 1 },
      { ...ISSUE, intern: 1, draw: 'again' },
      { ...ISSUE, by: 'thief' },
      { ...ISSUE, by: 'thief', draw: 'again', body: 1 },
    ],
    changes: ['none', 'forged'],
    faults: ['flush'],
  },
  /** A primary and two replicas: cut off, promoted and followed, while some verifiers still reach the old primary. */
  'redis-replicas': {
    ...NOTHING,
    servers: 3,
    replicas: 2,
    timeMax: 3,
    proofsMax: 1,
    faultsMax: 4,
    faults: ['cut', 'promote', 'follow', 'reroute'],
  },
} as const satisfies Record<string, Configuration>;
