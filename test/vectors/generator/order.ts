import { changes, drop, replace } from './change-headers.ts';
import { INTERN_KEY, jwk, namedKey, scenario, step, TIMESTAMP } from './proof.ts';
import type { Scenario } from './scenario.ts';

const V2_HEADERS = ['x-ori-invoke-signature-v2', 'x-ori-invoke-nonce'];
const ENDED = [jwk(INTERN_KEY.publicKey, { exp: TIMESTAMP })];
const LATE = TIMESTAMP + 3600;

/** The refusal code of a request with several faults (SPEC.md, section 4). */
export const orderScenarios: Scenario[] = [
  scenario('V1', 'judges headers before the version', [
    step('proof_malformed', {
      headers: changes(drop(...V2_HEADERS), replace('x-ori-invoke-timestamp', 'soon')),
    }),
  ]),
  scenario('V1', 'judges headers before the request', [
    step('proof_malformed', { method: 'GET', headers: replace('x-ori-invoke-user', 'a b') }),
  ]),
  scenario('V1', 'judges the version before the request', [
    step('proof_version_not_accepted', { method: 'GET', headers: drop(...V2_HEADERS) }),
  ]),
  scenario('V1', 'judges the request before the time', [
    step('request_not_coverable', { target: '/api/invoke?x=1', now: LATE }),
  ]),
  scenario('V1', 'judges the time before the key', [step('proof_expired', { now: LATE })], { keys: ENDED }),
  scenario('V1', 'judges the time before the signature', [
    step('proof_expired', { now: LATE, claim: { key: namedKey('mallory') } }),
  ]),
  scenario(
    'V1',
    'judges the key before the signature',
    [step('key_unknown', { claim: { key: namedKey('mallory') } })],
    { keys: ENDED },
  ),
  scenario(
    'V1',
    'judges the signature before the fence of the replay store',
    [step('signature_invalid', { claim: { key: namedKey('mallory') } })],
    { storeSince: TIMESTAMP + 5 },
  ),
  scenario('V1', 'judges the signature before the replay', [
    step('ok'),
    step('signature_invalid', { body: Buffer.from('{}') }),
    step('nonce_replayed'),
  ]),
];
