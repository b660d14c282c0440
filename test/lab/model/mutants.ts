/** Each guard that can be removed: the configuration in which it is, and the invariant that is then violated. */
export const MUTANTS = {
  // signature
  'intern-not-signed': ['wire', 'accepted-as-issued'],
  'user-not-signed': ['wire', 'accepted-as-issued'],
  'body-not-signed': ['wire', 'accepted-as-issued'],
  'path-not-signed': ['wire', 'accepted-as-issued'],
  'nonce-not-signed': ['wire', 'accepted-as-issued'],
  'method-not-checked': ['wire', 'accepted-as-issued'],
  'signature-not-checked': ['wire', 'accepted-as-issued'],
  'spend-before-signature': ['redis-redeem', 'refused-for-a-reason'],
  'v1-by-default': ['wire', 'v2-decides'],
  'bad-v2-falls-back': ['wire', 'v2-decides'],
  'nbf-ignored': ['wire', 'accepted-under-a-key-of-its-time'],
  'exp-ignored': ['wire', 'accepted-under-a-key-of-its-time'],
  'retired-key-signs': ['wire', 'accepts-again'],
  'age-not-checked': ['memory', 'accepted-in-time'],
  'future-not-checked': ['redis-clocks', 'accepted-in-time'],
  'body-without-end': ['memory', 'body-ends'],
  // nonces
  'reservation-ignored': ['redis-redeem', 'nonce-issued-once'],
  'reservation-too-short': ['redis-redeem', 'nonce-issued-once'],
  'redeemed-unreserved': ['redis-redeem', 'accepted-as-issued'],
  'reservation-of-anything': ['redis-redeem', 'accepted-as-issued'],
  'interns-share-a-ledger': ['redis-redeem', 'refused-for-a-reason'],
  // Redis
  'no-fence': ['redis', 'accepted-once'],
  'fence-of-any-server': ['redis-replicas', 'accepted-once'],
  'fence-without-tolerance': ['redis-clocks', 'accepted-once'],
  'newest-fence-ignored': ['redis-swapped', 'accepted-once'],
  'fence-from-unsafe-answers': ['redis-swapped', 'accepted-once'],
  'fence-at-every-look': ['redis', 'accepts-again'],
  'no-floor': ['redis-forgetting', 'accepted-once'],
  'floor-after-delete': ['redis-forgetting', 'accepted-once'],
  'replicas-not-required': ['redis-replicas', 'accepted-once'],
  'no-wait': ['redis-replicas', 'unsafe-accepts-nothing'],
  'policy-not-checked': ['redis', 'unsafe-accepts-nothing'],
  'unsafe-not-remembered': ['redis', 'unsafe-accepts-nothing'],
  'clocks-not-compared': ['redis-clocks', 'unsafe-accepts-nothing'],
  'lost-answer-accepted': ['redis-answers', 'accepted-once'],
  'own-replay-accepted': ['redis-answers', 'accepted-once'],
  // versions
  'v1-not-burned-with-v2': ['redis-v1', 'accepted-once'],
  'v2-not-burned-with-v1': ['redis-v1', 'accepted-once'],
  'v1-not-spent': ['memory-v1', 'accepted-once'],
  'v1-mark-without-fence': ['redis-v1', 'accepted-once'],
  // memory
  'no-high-water-mark': ['memory', 'accepted-once'],
  'no-birth-refusal': ['memory', 'accepted-once'],
  'birth-as-said-then': ['memory', 'accepted-once'],
  'cap-evicts': ['memory-full', 'accepted-once'],
  // all
  'refuses-everything': ['memory', 'accepts-again'],
} as const satisfies Record<string, readonly [configuration: string, caughtBy: string]>;

/** The guard that a mutant removes or breaks. */
export type Guard = keyof typeof MUTANTS;
