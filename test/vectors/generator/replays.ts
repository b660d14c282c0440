import { drop, replace } from './change-headers.ts';
import { acceptingV1, namedNonce, scenario, step, TIMESTAMP } from './proof.ts';
import type { Scenario } from './scenario.ts';

const V1_ONLY = drop('x-ori-invoke-signature-v2', 'x-ori-invoke-nonce');
const FIRST = { nonce: namedNonce('first') };
const SECOND = { nonce: namedNonce('second') };
const V1 = { version: 1 } as const;

/** Replays (REPLAY-STORES.md). */
export const replayScenarios: Scenario[] = [
  scenario('N7', 'refuses a proof whose nonce was spent', [
    step('ok'),
    step('nonce_replayed'),
    step('nonce_replayed'),
  ]),
  scenario('N8', 'remembers a spent nonce for as long as its proof could be accepted', [
    step('ok', { now: TIMESTAMP - 2 }),
    step('nonce_replayed', { now: TIMESTAMP + 60 }),
    step('proof_expired', { now: TIMESTAMP + 61 }),
  ]),
  scenario('N7', 'refuses another request under a spent nonce', [
    step('ok'),
    step('nonce_replayed', { claim: { body: Buffer.from('{"prompt":"other"}') } }),
    step('nonce_replayed', { claim: { timestamp: String(TIMESTAMP + 1) } }),
    step('nonce_replayed', { claim: { user: 'user_3def' } }),
    step('nonce_replayed', { claim: { path: '/api/other' } }),
  ]),
  scenario('N7', 'accepts the same request under another nonce', [
    step('ok', { claim: FIRST }),
    step('ok', { claim: SECOND }),
    step('nonce_replayed', { claim: FIRST }),
  ]),
  scenario('N7', 'tells nonces apart by their capitals', [
    step('ok', { claim: { nonce: 'AAECAwQFBgcICQoLDA0ODw' } }),
    step('ok', { claim: { nonce: 'aaecawqfbgcicqolda0odw' } }),
  ]),
  scenario('V18', 'spends nothing on a refused proof', [
    step('proof_malformed', { headers: replace('x-ori-invoke-signature', 'AAAA'), now: TIMESTAMP - 3 }),
    step('proof_not_yet_valid', { now: TIMESTAMP - 3 }),
    step('request_not_coverable', { target: '/api/invoke?x=1', now: TIMESTAMP }),
    step('signature_invalid', { body: Buffer.from('{}'), now: TIMESTAMP }),
    step('signature_invalid', { headers: replace('x-ori-invoke-user', 'user_mallory'), now: TIMESTAMP }),
    step('proof_version_not_accepted', { headers: V1_ONLY, now: TIMESTAMP }),
    step('ok', { now: TIMESTAMP }),
  ]),
  scenario(
    'N4',
    'refuses a proof issued before the replay store knew of spends',
    [step('proof_before_fence')],
    {
      storeSince: TIMESTAMP + 5,
    },
  ),
  scenario(
    'N4',
    'refuses a proof stamped ahead of the fence by no more than the tolerance',
    [step('proof_before_fence')],
    { storeSince: TIMESTAMP - 2 },
  ),
  scenario('N4', 'accepts a proof from past the fence and its tolerance', [step('ok')], {
    storeSince: TIMESTAMP - 3,
  }),
  acceptingV1('O1', 'refuses a version 1 proof that was spent', [
    step('ok', { claim: V1 }),
    step('nonce_replayed', { claim: V1 }),
  ]),
  acceptingV1('O2', 'refuses the stripped copy of an accepted version 2 proof', [
    step('ok'),
    step('nonce_replayed', { headers: V1_ONLY }),
  ]),
  acceptingV1('O4', 'refuses a version 2 proof whose stripped copy was accepted', [
    step('ok', { claim: V1 }),
    step('nonce_replayed'),
  ]),
  acceptingV1('O5 O2', 'accepts two version 2 proofs of one request, and then no version 1 of it', [
    step('ok', { claim: FIRST }),
    step('ok', { claim: SECOND }),
    step('nonce_replayed', { claim: V1 }),
  ]),
  acceptingV1('O1', 'tells version 1 proofs apart by user, second and body', [
    step('ok', { claim: V1 }),
    step('ok', { claim: { ...V1, user: 'user_3def' } }),
    step('ok', { claim: { ...V1, timestamp: String(TIMESTAMP + 1) } }),
    step('ok', { claim: { ...V1, body: Buffer.from('{"prompt":"other"}') } }),
    step('nonce_replayed', { claim: V1 }),
  ]),
  acceptingV1('O1', 'refuses the same version 1 proof on another path', [
    step('ok', { claim: V1 }),
    step('nonce_replayed', { claim: V1, target: '/api/other' }),
  ]),
];
