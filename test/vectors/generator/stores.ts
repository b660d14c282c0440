import { drop, replace } from './change-headers.ts';
import {
  acceptingV1,
  begin,
  CLAIM,
  type Claim,
  finish,
  inputV1,
  namedKey,
  namedNonce,
  restart,
  type ScenarioOptions,
  type StepOptions,
  scenario,
  signed,
  step,
  TIMESTAMP,
  verifierStep,
} from './proof.ts';
import type { Scenario, Step } from './scenario.ts';

const V1 = { version: 1 } as const;
const V1_ONLY = drop('x-ori-invoke-signature-v2', 'x-ori-invoke-nonce');
const FORGED_V1 = replace('x-ori-invoke-signature', signed(inputV1(CLAIM), namedKey('mallory')));
const nonceOf = (name: string) => ({ nonce: namedNonce(name) });
/** A proof with that nonce, presented in the second that it was issued. */
const issued = (nonce: string, timestamp: number) => ({
  claim: { ...nonceOf(nonce), timestamp: String(timestamp) },
  now: timestamp,
});
const OLDEST = TIMESTAMP + 60;

/** Slow bodies, and clocks with fractions of a second (SPEC.md, section 4.4, and REPLAY-STORES.md). */
const slowScenarios: Scenario[] = [
  scenario(
    'V12',
    'judges the age by the clock with its fraction',
    [step('proof_expired', { now: OLDEST + 0.001 }), step('ok', { now: OLDEST })].toReversed(),
  ),
  scenario('V12', 'refuses a proof half a second too old', [step('proof_expired', { now: OLDEST + 0.5 })]),
  scenario('V13', 'refuses a proof half a second too far ahead', [
    step('proof_not_yet_valid', { now: TIMESTAMP - 2.5 }),
  ]),
  scenario('V12 V2', 'judges the age when the head has arrived', [
    begin('a', 'continue', { now: OLDEST }),
    finish('a', 'ok', { now: OLDEST + 29.5 }),
  ]),
  scenario('V12 V2', 'refuses an old proof before its body', [
    begin('a', 'proof_expired', { now: OLDEST + 1 }),
  ]),
  scenario('V2 V4', 'refuses malformed headers before the body', [
    begin('a', 'proof_malformed', { headers: replace('x-ori-invoke-nonce', 'spent') }),
  ]),
  scenario('V2 V10', 'refuses another media type before the body', [
    begin('a', 'request_not_coverable', { headers: replace('Content-Type', 'text/plain') }),
  ]),
  scenario('V15', 'judges the body that came, however late', [
    begin('a', 'continue'),
    finish('a', 'signature_invalid', { body: Buffer.from('{"prompt":"other"}'), now: TIMESTAMP + 20 }),
  ]),
  scenario('V17', 'accepts a body that takes 30 s', [
    begin('a', 'continue'),
    finish('a', 'ok', { now: TIMESTAMP + 40 }),
  ]),
  scenario('V17', 'refuses a body that takes longer than 30 s', [
    begin('a', 'continue'),
    finish('a', 'proof_expired', { now: TIMESTAMP + 40.001 }),
  ]),
  scenario('V17', 'spends nothing for a body that takes longer than 30 s', [
    begin('a', 'continue'),
    finish('a', 'proof_expired', { now: TIMESTAMP + 45 }),
    step('ok', { now: TIMESTAMP + 45 }),
  ]),
  scenario('V17', 'judges the signature before the time that the body took', [
    begin('a', 'continue'),
    finish('a', 'signature_invalid', { body: Buffer.from('{}'), now: TIMESTAMP + 45 }),
  ]),
  scenario('N8 N7', 'accepts one of two copies whose bodies end after the greatest age', [
    begin('a', 'continue', { now: OLDEST }),
    begin('b', 'continue', { now: OLDEST }),
    finish('a', 'ok', { now: OLDEST + 1 }),
    finish('b', 'nonce_replayed', { now: OLDEST + 3 }),
  ]),
  scenario('N8', 'accepts one of three copies whose bodies end 30 s after the greatest age', [
    begin('a', 'continue', { now: OLDEST }),
    begin('b', 'continue', { now: OLDEST }),
    begin('c', 'continue', { now: OLDEST }),
    step('ok', { now: OLDEST }),
    finish('a', 'nonce_replayed', { now: OLDEST + 2 }),
    finish('b', 'nonce_replayed', { now: OLDEST + 28 }),
    finish('c', 'nonce_replayed', { now: OLDEST + 30 }),
  ]),
  scenario(
    'N8',
    'remembers a proof for a greatest age of 600 s',
    [
      step('ok', { now: TIMESTAMP - 2 }),
      step('nonce_replayed', { now: TIMESTAMP + 61 }),
      step('nonce_replayed', { now: TIMESTAMP + 93 }),
      begin('a', 'continue', { now: TIMESTAMP + 600 }),
      step('nonce_replayed', { now: TIMESTAMP + 600 }),
      finish('a', 'nonce_replayed', { now: TIMESTAMP + 630 }),
    ],
    { verifier: { maxAgeSeconds: 600 } },
  ),
  scenario('N3', 'accepts nothing twice that a verifier of a smaller age made its store forget', [
    verifierStep({ maxAgeSeconds: 600 }),
    step('ok'),
    verifierStep({}),
    step('ok', issued('later', TIMESTAMP + 200)),
    verifierStep({ maxAgeSeconds: 600 }),
    step('nonce_replayed', { now: TIMESTAMP + 200, or: 'proof_expired' }),
    step('nonce_replayed', { now: TIMESTAMP + 600, or: 'proof_expired' }),
  ]),
  scenario('N3', 'accepts nothing twice that was forgotten before a verifier of a greater age came', [
    step('ok'),
    step('ok', issued('later', TIMESTAMP + 100)),
    verifierStep({ maxAgeSeconds: 600 }),
    step('nonce_replayed', { now: TIMESTAMP + 100, or: 'proof_expired' }),
    step('nonce_replayed', { now: TIMESTAMP + 600, or: 'proof_expired' }),
  ]),
  scenario('N3', 'accepts nothing twice that was spent for a smaller age', [
    verifierStep({ maxAgeSeconds: 600 }),
    verifierStep({}),
    step('ok'),
    verifierStep({ maxAgeSeconds: 600 }),
    step('ok', issued('later', TIMESTAMP + 200)),
    step('nonce_replayed', { now: TIMESTAMP + 200, or: 'proof_expired' }),
  ]),
  scenario('N8', 'may forget for a verifier of a smaller age a nonce that it spent for a greater one', [
    verifierStep({ maxAgeSeconds: 600 }),
    step('ok'),
    verifierStep({}),
    step('ok', { ...issued('first', TIMESTAMP + 200), or: 'nonce_replayed' }),
    step('nonce_replayed', {
      ...issued('first', TIMESTAMP + 200),
      now: TIMESTAMP + 201,
      or: 'proof_expired',
    }),
  ]),
  scenario(
    'N8',
    'does not forget a nonce before the verifier that presents it would refuse its proof as expired',
    [step('ok'), step('nonce_replayed', issued('first', TIMESTAMP + 91))],
  ),
];

const FAR_AHEAD = TIMESTAMP + 300;
/** A proof that is timely while the clock is 300 s ahead. Spending it makes a store forget. */
const meanwhile = (claim: Partial<Claim> = {}) =>
  step('ok', { claim: { ...claim, ...nonceOf('meanwhile'), timestamp: String(FAR_AHEAD) }, now: FAR_AHEAD });
const copyAt = (now: number, options: StepOptions = {}) =>
  step('nonce_replayed', { ...options, now, or: 'proof_expired' });

/** A clock that was wrong and is corrected. */
const correctedScenarios: Scenario[] = [
  scenario('N3 N7', 'accepts nothing twice after a fast clock was corrected', [
    step('ok', { now: TIMESTAMP }),
    meanwhile(),
    copyAt(TIMESTAMP + 5),
    copyAt(TIMESTAMP + 60),
  ]),
  scenario('N3 N7', 'accepts nothing twice after a fast clock was corrected twice', [
    step('ok', { now: TIMESTAMP }),
    meanwhile(),
    copyAt(TIMESTAMP + 5),
    step('nonce_replayed', issued('meanwhile', FAR_AHEAD)),
    copyAt(TIMESTAMP + 6),
  ]),
  scenario('N3', 'accepts what is issued after a fast clock was corrected and is past its floor', [
    step('ok', { now: TIMESTAMP }),
    meanwhile(),
    step('ok', issued('past the floor', FAR_AHEAD - 91)),
  ]),
  acceptingV1('N3 O7', 'accepts no version 1 proof twice after a fast clock was corrected', [
    step('ok', { claim: V1, now: TIMESTAMP }),
    meanwhile(V1),
    copyAt(TIMESTAMP + 5, { claim: V1 }),
    copyAt(TIMESTAMP + 6),
  ]),
  acceptingV1('N3 O7', 'accepts no stripped copy after a fast clock was corrected', [
    step('ok', { now: TIMESTAMP }),
    meanwhile(),
    copyAt(TIMESTAMP + 5, { headers: V1_ONLY }),
  ]),
  scenario('N8', 'remembers what it spent when its clock goes back', [
    step('ok', { now: TIMESTAMP + 10 }),
    step('nonce_replayed', { now: TIMESTAMP + 5 }),
    step('nonce_replayed', { now: TIMESTAMP - 2 }),
    step('nonce_replayed', { now: TIMESTAMP + 10 }),
  ]),
  scenario('N8', 'remembers what is ahead of it after its clock went back', [
    step('ok', { now: TIMESTAMP }),
    step('ok', issued('earlier', TIMESTAMP - 100)),
    step('nonce_replayed', { now: TIMESTAMP + 1 }),
  ]),
  scenario('N4 N5', 'keeps a fence that a fast clock set until the clock has passed it', [
    restart(FAR_AHEAD),
    step('proof_before_fence', { now: TIMESTAMP, retryAfterSeconds: 303 }),
    step('ok', { claim: { timestamp: String(FAR_AHEAD + 3) }, now: FAR_AHEAD + 3 }),
  ]),
];

const withStoreClock = (sentences: string, title: string, steps: Step[], options: ScenarioOptions = {}) =>
  scenario(sentences, title, steps, { needs: ['store-clock'], ...options });

/** A store with a clock other than the verifier's. */
const clockScenarios: Scenario[] = [
  withStoreClock(
    'N2',
    'judges what the store may have forgotten by the age of the verifier that presents it',
    [
      verifierStep({ maxAgeSeconds: 600 }),
      verifierStep({}),
      step('proof_expired', { now: OLDEST, storeNow: TIMESTAMP + 92 }),
      verifierStep({ maxAgeSeconds: 600 }),
      step('ok', { now: OLDEST, storeNow: TIMESTAMP + 92 }),
    ],
  ),
  withStoreClock('N3', 'accepts nothing twice after the clock of the store alone was corrected', [
    step('ok', { now: TIMESTAMP, storeNow: TIMESTAMP }),
    step('ok', {
      claim: { ...nonceOf('meanwhile'), timestamp: String(FAR_AHEAD) },
      now: FAR_AHEAD,
      storeNow: FAR_AHEAD,
    }),
    step('nonce_replayed', { now: TIMESTAMP + 5, storeNow: TIMESTAMP + 5, or: 'proof_expired' }),
  ]),
  withStoreClock('N8', 'accepts one of two copies though the clock of the store is ahead', [
    begin('a', 'continue', { now: OLDEST, storeNow: OLDEST + 1.9 }),
    step('ok', { now: OLDEST, storeNow: OLDEST + 1.9 }),
    finish('a', 'nonce_replayed', { now: OLDEST + 30, storeNow: OLDEST + 31.9 }),
  ]),
  withStoreClock('N2', 'refuses what the store may have forgotten by its own clock', [
    step('proof_expired', { now: OLDEST, storeNow: TIMESTAMP + 92 }),
  ]),
  withStoreClock('N2', 'refuses by the clock of the store a copy of what it forgot', [
    step('ok', { now: TIMESTAMP, storeNow: TIMESTAMP }),
    step('proof_expired', { now: OLDEST, storeNow: TIMESTAMP + 150 }),
  ]),
  withStoreClock('N2 N8', 'accepts what the store cannot have forgotten yet', [
    step('ok', { now: OLDEST, storeNow: TIMESTAMP + 91.999 }),
  ]),
  withStoreClock('N1', 'refuses what is ahead of the clock of the store by more than the tolerance', [
    step('proof_not_yet_valid', { now: TIMESTAMP, storeNow: TIMESTAMP - 2.001 }),
    step('ok', { now: TIMESTAMP, storeNow: TIMESTAMP - 2 }),
  ]),
  withStoreClock(
    'N6',
    'judges what is ahead of the store before its fence',
    [step('proof_not_yet_valid', { now: TIMESTAMP, storeNow: TIMESTAMP - 3 })],
    { storeSince: TIMESTAMP },
  ),
  withStoreClock(
    'N6',
    'judges what the store may have forgotten before its fence',
    [step('proof_expired', { now: TIMESTAMP + 1, storeNow: TIMESTAMP + 100 })],
    { storeSince: TIMESTAMP + 100 },
  ),
  withStoreClock('N6', 'judges the clock of the store before the nonce', [
    step('ok', { now: TIMESTAMP, storeNow: TIMESTAMP }),
    step('proof_not_yet_valid', { now: TIMESTAMP, storeNow: TIMESTAMP - 5 }),
  ]),
];

/** A store that starts or restarts. */
const fenceScenarios: Scenario[] = [
  ...[0, 5, 60].flatMap((clockToleranceSeconds) => [
    scenario(
      'N4 N5',
      `refuses up to the fence and a tolerance of ${clockToleranceSeconds} s`,
      [step('proof_before_fence', { now: TIMESTAMP, retryAfterSeconds: 1 })],
      { verifier: { clockToleranceSeconds }, storeSince: TIMESTAMP - clockToleranceSeconds },
    ),
    scenario(
      'N4',
      `accepts from past the fence and a tolerance of ${clockToleranceSeconds} s`,
      [step('ok', { now: TIMESTAMP })],
      { verifier: { clockToleranceSeconds }, storeSince: TIMESTAMP - clockToleranceSeconds - 1 },
    ),
  ]),
  scenario('N4', 'rounds the fence up to a whole second', [step('proof_before_fence', { now: TIMESTAMP })], {
    storeSince: TIMESTAMP - 2.999,
  }),
  scenario(
    'N4 N5',
    'says after how many seconds a new proof is past the fence',
    [
      step('proof_before_fence', { now: TIMESTAMP, retryAfterSeconds: 3 }),
      step('proof_before_fence', { now: TIMESTAMP + 0.5, retryAfterSeconds: 3 }),
      step('proof_before_fence', { now: TIMESTAMP + 1, retryAfterSeconds: 2 }),
      step('proof_before_fence', { now: TIMESTAMP + 30, retryAfterSeconds: 1 }),
    ],
    { storeSince: TIMESTAMP },
  ),
  scenario('N4', 'refuses what was accepted before a restart', [
    step('ok'),
    restart(TIMESTAMP + 12),
    step('proof_before_fence', { now: TIMESTAMP + 12 }),
    step('proof_before_fence', { now: TIMESTAMP + 60 }),
  ]),
  scenario('N4', 'refuses after a restart what was never spent', [
    restart(TIMESTAMP + 5),
    step('proof_before_fence', { now: TIMESTAMP + 10 }),
  ]),
  scenario('N4', 'accepts after a restart what was issued past its fence', [
    restart(TIMESTAMP - 3),
    step('ok', { now: TIMESTAMP }),
    step('nonce_replayed', { now: TIMESTAMP + 1 }),
  ]),
  acceptingV1(
    'N4',
    'refuses version 1 up to the fence too',
    [
      step('proof_before_fence', { claim: V1 }),
      step('ok', { claim: { ...V1, timestamp: String(TIMESTAMP + 3) } }),
    ],
    { storeSince: TIMESTAMP },
  ),
  acceptingV1('N4', 'refuses after a restart a version 1 proof that was accepted before', [
    step('ok', { claim: V1 }),
    restart(TIMESTAMP + 12),
    step('proof_before_fence', { claim: V1, now: TIMESTAMP + 13 }),
  ]),
  scenario('N6', 'judges the fence before the nonce', [
    step('ok', { now: TIMESTAMP }),
    restart(TIMESTAMP),
    step('proof_before_fence', { now: TIMESTAMP }),
    step('proof_before_fence', { now: TIMESTAMP }),
  ]),
  scenario('V17 N4', 'refuses a body that ends after a restart', [
    begin('a', 'continue'),
    restart(TIMESTAMP + 15),
    finish('a', 'proof_before_fence', { now: TIMESTAMP + 20 }),
  ]),
  scenario(
    'V18',
    'spends nothing on a proof before the fence',
    [
      step('proof_before_fence', { claim: { ...nonceOf('fenced'), timestamp: String(TIMESTAMP - 5) } }),
      step('ok', { claim: nonceOf('fenced') }),
    ],
    { storeSince: TIMESTAMP - 4 },
  ),
];

const CROWD = Array.from({ length: 130 }, (_, index) => nonceOf(`crowd ${index}`));
const crowdScenarios: Scenario[] = [
  scenario('N9', 'remembers every one of 130 proofs', [
    ...CROWD.map((claim) => step('ok', { claim })),
    ...[0, 1, 64, 128, 129].map((index) => step('nonce_replayed', { claim: CROWD[index] ?? {} })),
  ]),
];

/** Version 1 where accepted (REPLAY-STORES.md). */
const versionOneScenarios: Scenario[] = [
  acceptingV1('O7 O1', 'remembers a version 1 proof for as long as it could be accepted', [
    step('ok', { claim: V1, now: TIMESTAMP - 2 }),
    step('nonce_replayed', { claim: V1, now: TIMESTAMP + 11 }),
    step('nonce_replayed', { claim: V1, now: OLDEST }),
  ]),
  acceptingV1('O7 O2', 'remembers the mark of a version 2 proof as long as its nonce', [
    step('ok', { now: TIMESTAMP - 2 }),
    step('nonce_replayed', { headers: V1_ONLY, now: TIMESTAMP + 11 }),
    begin('a', 'continue', { headers: V1_ONLY, now: OLDEST }),
    step('nonce_replayed', { headers: V1_ONLY, now: OLDEST }),
    finish('a', 'nonce_replayed', { headers: V1_ONLY, now: OLDEST + 30 }),
  ]),
  acceptingV1('O7 O4', 'remembers a version 1 proof against its version 2 for as long', [
    step('ok', { claim: V1, now: TIMESTAMP - 2 }),
    step('nonce_replayed', { now: TIMESTAMP + 11 }),
    step('nonce_replayed', { now: OLDEST }),
  ]),
  scenario(
    'O7',
    'does not shorten a mark when a verifier of a smaller age sets it again',
    [
      step('ok', { claim: nonceOf('first') }),
      verifierStep({ acceptV1: true }),
      step('ok', { claim: nonceOf('second') }),
      verifierStep({ acceptV1: true, maxAgeSeconds: 600 }),
      step('nonce_replayed', { headers: V1_ONLY, now: TIMESTAMP + 93, or: 'proof_expired' }),
      step('nonce_replayed', { headers: V1_ONLY, now: TIMESTAMP + 600, or: 'proof_expired' }),
    ],
    { verifier: { acceptV1: true, maxAgeSeconds: 600 } },
  ),
  acceptingV1('O3', 'marks a version 2 proof whose version 1 signature is forged', [
    step('ok', { headers: FORGED_V1 }),
    step('nonce_replayed', { headers: V1_ONLY }),
  ]),
  acceptingV1('O4', 'refuses a version 2 proof with a forged version 1 signature after its stripped copy', [
    step('ok', { claim: V1 }),
    step('nonce_replayed', { headers: FORGED_V1 }),
  ]),
  acceptingV1('O4', 'refuses every version 2 proof of a request that was accepted as version 1', [
    step('ok', { claim: V1 }),
    step('nonce_replayed', { claim: nonceOf('first') }),
    step('nonce_replayed', { claim: nonceOf('second') }),
    step('nonce_replayed', { claim: { ...nonceOf('third'), path: '/api/other' } }),
  ]),
  acceptingV1('O6', 'keeps a mark when a stripped copy is refused', [
    step('ok', { claim: nonceOf('first') }),
    step('nonce_replayed', { claim: V1 }),
    step('ok', { claim: nonceOf('second') }),
    step('nonce_replayed', { claim: V1 }),
    step('ok', { claim: nonceOf('third') }),
  ]),
  acceptingV1('O6', 'keeps a spent version 1 id when a version 2 proof is refused for it', [
    step('ok', { claim: V1 }),
    step('nonce_replayed', { claim: nonceOf('first') }),
    step('nonce_replayed', { claim: V1 }),
    step('nonce_replayed', { claim: nonceOf('second') }),
    step('nonce_replayed', { claim: nonceOf('first') }),
  ]),
  acceptingV1('V18 O6', 'marks nothing for a refused version 2 proof', [
    step('signature_invalid', { claim: { key: namedKey('mallory') } }),
    step('request_not_coverable', { target: '/api/invoke?x' }),
    step('ok', { claim: V1 }),
  ]),
  scenario('O8', 'refuses a version 1 proof from before its store marked', [
    step('ok'),
    verifierStep({ acceptV1: true }),
    step('proof_before_fence', { headers: V1_ONLY }),
  ]),
  scenario(
    'O8 N5',
    'says after how many seconds a version 1 proof is past the newest proof spent unmarked',
    [
      step('ok', { claim: { ...nonceOf('newer'), timestamp: String(TIMESTAMP + 2) }, now: TIMESTAMP }),
      verifierStep({ acceptV1: true }),
      step('proof_before_fence', { claim: V1, now: TIMESTAMP, retryAfterSeconds: 3 }),
      step('proof_before_fence', {
        claim: { ...V1, timestamp: String(TIMESTAMP - 1) },
        now: TIMESTAMP,
        retryAfterSeconds: 3,
      }),
    ],
    { storeSince: TIMESTAMP - 3 },
  ),
  scenario('O8', 'refuses no version 2 proof for the proofs spent unmarked', [
    step('ok', { claim: nonceOf('newer') }),
    verifierStep({ acceptV1: true }),
    step('ok', { claim: { ...nonceOf('older'), timestamp: String(TIMESTAMP - 5) } }),
    step('ok', { claim: nonceOf('same second') }),
  ]),
  acceptingV1('V18 O4', 'spends no nonce of a version 2 proof that is refused for its version 1 id', [
    step('ok', { claim: V1 }),
    step('nonce_replayed', { claim: nonceOf('first') }),
    step('ok', { claim: { ...nonceOf('first'), body: Buffer.from('{"prompt":"other"}') } }),
  ]),
  scenario(
    'O8',
    'refuses version 1 up to the newest of the proofs spent unmarked, though it was spent first',
    [
      step('ok', { claim: nonceOf('newer') }),
      step('ok', { claim: { ...nonceOf('older'), timestamp: String(TIMESTAMP - 5) } }),
      verifierStep({ acceptV1: true }),
      step('proof_before_fence', { headers: V1_ONLY }),
      step('proof_before_fence', { claim: V1 }),
    ],
  ),
  scenario('O8', 'refuses version 1 up to the newest proof spent unmarked', [
    step('ok'),
    step('ok', { claim: { ...nonceOf('newer'), timestamp: String(TIMESTAMP + 8) } }),
    verifierStep({ acceptV1: true }),
    step('proof_before_fence', { claim: { ...V1, timestamp: String(TIMESTAMP + 8) } }),
    step('proof_before_fence', { claim: { ...V1, timestamp: String(TIMESTAMP + 1) } }),
    step('ok', { claim: { ...V1, timestamp: String(TIMESTAMP + 30) }, now: TIMESTAMP + 30 }),
  ]),
  acceptingV1('O8 O2', 'marks for a verifier of version 1 what another verifier accepts', [
    verifierStep({ acceptV1: false }),
    step('ok'),
    verifierStep({ acceptV1: true }),
    step('nonce_replayed', { headers: V1_ONLY }),
  ]),
];

/** What stores remember, for how long, and what they refuse (REPLAY-STORES.md). */
export const storeScenarios: Scenario[] = [
  ...slowScenarios,
  ...correctedScenarios,
  ...clockScenarios,
  ...fenceScenarios,
  ...crowdScenarios,
  ...versionOneScenarios,
];
