import type { CONFIGURATIONS } from './configurations.ts';
import type { Guard } from './guards.ts';

/** A removed guard, the configuration, and the invariant that must be violated. */
export interface MutantCase {
  readonly guard: string;
  readonly in: keyof typeof CONFIGURATIONS;
  readonly caughtBy: string;
}

export const MUTANTS: Readonly<Record<Guard, MutantCase>> = {
  // signature
  'intern-not-signed': { guard: 'the intern is signed', in: 'wire', caughtBy: 'accepted-as-issued' },
  'user-not-signed': { guard: 'the user is signed', in: 'wire', caughtBy: 'accepted-as-issued' },
  'body-not-signed': { guard: 'the body is signed', in: 'wire', caughtBy: 'accepted-as-issued' },
  'path-not-signed': { guard: 'the path is signed', in: 'wire', caughtBy: 'accepted-as-issued' },
  'nonce-not-signed': { guard: 'the nonce is signed', in: 'wire', caughtBy: 'accepted-as-issued' },
  'method-not-checked': { guard: 'POST alone is covered', in: 'wire', caughtBy: 'accepted-as-issued' },
  'signature-not-checked': { guard: 'the signature', in: 'wire', caughtBy: 'accepted-as-issued' },
  'spend-before-signature': {
    guard: 'the signature comes before the store',
    in: 'redis-redeem',
    caughtBy: 'refused-for-a-reason',
  },
  'v1-by-default': { guard: 'version 1 is opted into', in: 'wire', caughtBy: 'v2-decides' },
  'bad-v2-falls-back': { guard: 'a bad version 2 stays bad', in: 'wire', caughtBy: 'v2-decides' },
  'nbf-ignored': {
    guard: 'a key is not good before its time',
    in: 'wire',
    caughtBy: 'accepted-under-a-key-of-its-time',
  },
  'exp-ignored': {
    guard: 'a key is not good after its time',
    in: 'wire',
    caughtBy: 'accepted-under-a-key-of-its-time',
  },
  'retired-key-signs': {
    guard: 'the signer takes the key of the time',
    in: 'wire',
    caughtBy: 'accepts-again',
  },
  'age-not-checked': { guard: 'the greatest age', in: 'memory', caughtBy: 'accepted-in-time' },
  'future-not-checked': { guard: 'proofs stamped ahead', in: 'redis-clocks', caughtBy: 'accepted-in-time' },
  'body-without-end': { guard: 'a body ends in time', in: 'memory', caughtBy: 'body-ends' },
  // nonces
  'reservation-ignored': {
    guard: 'a reserved nonce is not issued',
    in: 'redis-redeem',
    caughtBy: 'nonce-issued-once',
  },
  'reservation-too-short': {
    guard: 'a reservation lasts as long as its proof',
    in: 'redis-redeem',
    caughtBy: 'nonce-issued-once',
  },
  'redeemed-unreserved': {
    guard: 'only a reserved nonce is redeemed',
    in: 'redis-redeem',
    caughtBy: 'accepted-as-issued',
  },
  'reservation-of-anything': {
    guard: 'a reservation is for what was signed',
    in: 'redis-redeem',
    caughtBy: 'accepted-as-issued',
  },
  'interns-share-a-ledger': {
    guard: 'each intern has its own spent ids',
    in: 'redis-redeem',
    caughtBy: 'refused-for-a-reason',
  },
  // Redis
  'no-fence': { guard: 'the fence', in: 'redis', caughtBy: 'accepted-once' },
  'fence-of-any-server': {
    guard: 'the fence is of one replication id',
    in: 'redis-replicas',
    caughtBy: 'accepted-once',
  },
  'fence-without-tolerance': {
    guard: 'the fence has the tolerance in it',
    in: 'redis-clocks',
    caughtBy: 'accepted-once',
  },
  'newest-fence-ignored': {
    guard: 'a fence older than the newest seen is ignored',
    in: 'redis-swapped',
    caughtBy: 'accepted-once',
  },
  'fence-from-unsafe-answers': {
    guard: 'the newest fence comes from good answers',
    in: 'redis-swapped',
    caughtBy: 'accepted-once',
  },
  'fence-at-every-look': { guard: 'a fence is written once', in: 'redis', caughtBy: 'accepts-again' },
  'no-floor': {
    guard: 'what was forgotten stays refused',
    in: 'redis-forgetting',
    caughtBy: 'accepted-once',
  },
  'floor-after-delete': {
    guard: 'the floor rises before ids go',
    in: 'redis-forgetting',
    caughtBy: 'accepted-once',
  },
  'replicas-not-required': {
    guard: 'replicas at hand before',
    in: 'redis-replicas',
    caughtBy: 'accepted-once',
  },
  'no-wait': { guard: 'acknowledgements after', in: 'redis-replicas', caughtBy: 'unsafe-accepts-nothing' },
  'policy-not-checked': {
    guard: 'an evicting policy is unsafe',
    in: 'redis',
    caughtBy: 'unsafe-accepts-nothing',
  },
  'unsafe-not-remembered': {
    guard: 'what a look found unsafe is not used',
    in: 'redis',
    caughtBy: 'unsafe-accepts-nothing',
  },
  'clocks-not-compared': { guard: 'clocks apart', in: 'redis-clocks', caughtBy: 'unsafe-accepts-nothing' },
  'lost-answer-accepted': {
    guard: 'a lost answer is a refusal',
    in: 'redis-answers',
    caughtBy: 'accepted-once',
  },
  'own-replay-accepted': {
    guard: 'a spend is never sent again',
    in: 'redis-answers',
    caughtBy: 'accepted-once',
  },
  // versions
  'v1-not-burned-with-v2': {
    guard: 'version 2 marks its version 1 id',
    in: 'redis-v1',
    caughtBy: 'accepted-once',
  },
  'v2-not-burned-with-v1': { guard: 'version 1 burns version 2', in: 'redis-v1', caughtBy: 'accepted-once' },
  'v1-not-spent': { guard: 'version 1 ids are spent', in: 'memory-v1', caughtBy: 'accepted-once' },
  'v1-mark-without-fence': {
    guard: 'version 1 is fenced when its recording begins',
    in: 'redis-v1',
    caughtBy: 'accepted-once',
  },
  // memory
  'no-high-water-mark': { guard: 'the high-water mark', in: 'memory', caughtBy: 'accepted-once' },
  'no-birth-refusal': { guard: 'nothing from before the store', in: 'memory', caughtBy: 'accepted-once' },
  'birth-as-said-then': {
    guard: 'the birth is corrected with the clock',
    in: 'memory',
    caughtBy: 'accepted-once',
  },
  'cap-evicts': { guard: 'a full store refuses', in: 'memory-full', caughtBy: 'accepted-once' },
  // all
  'refuses-everything': { guard: 'a fresh proof is accepted', in: 'memory', caughtBy: 'accepts-again' },
};
