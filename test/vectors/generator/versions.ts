import { changes, drop, replace } from './change-headers.ts';
import {
  acceptingV1,
  CLAIM,
  INTERN_KEY,
  inputV1,
  inputV2,
  namedKey,
  scenario,
  signed,
  step,
} from './proof.ts';
import type { Scenario } from './scenario.ts';

const V2_HEADERS = ['x-ori-invoke-signature-v2', 'x-ori-invoke-nonce'];
const FORGED = signed(inputV2(CLAIM), namedKey('mallory'));

/** Which version is verified, and that neither replaces the other (SPEC.md, section 4.2). */
export const versionScenarios: Scenario[] = [
  scenario('V5', 'refuses a version 1 proof where it was not opted into', [
    step('proof_version_not_accepted', { claim: { version: 1 } }),
  ]),
  acceptingV1('V5', 'accepts a version 1 proof where it was opted into', [
    step('ok', { claim: { version: 1 } }),
  ]),
  acceptingV1('V6', 'accepts a version 2 proof where version 1 was opted into', [step('ok')]),
  acceptingV1('V6', 'does not fall back to a good version 1 when version 2 is forged', [
    step('signature_invalid', { headers: replace('x-ori-invoke-signature-v2', FORGED) }),
  ]),
  acceptingV1('V6', 'does not fall back to a good version 1 when version 2 is malformed', [
    step('proof_malformed', { headers: replace('x-ori-invoke-nonce', 'spent') }),
  ]),
  scenario('V6', 'judges a version 2 proof by its own signature alone', [
    step('ok', { headers: replace('x-ori-invoke-signature', FORGED) }),
  ]),
  scenario('B1', 'refuses a version 1 signature in the place of version 2', [
    step('signature_invalid', {
      headers: replace('x-ori-invoke-signature-v2', signed(inputV1(CLAIM), INTERN_KEY)),
    }),
  ]),
  acceptingV1('B1', 'refuses a version 2 signature in the place of version 1', [
    step('signature_invalid', {
      headers: changes(
        drop(...V2_HEADERS),
        replace('x-ori-invoke-signature', signed(inputV2(CLAIM), INTERN_KEY)),
      ),
    }),
  ]),
  acceptingV1('V15', 'refuses a version 1 proof whose body was changed', [
    step('signature_invalid', { claim: { version: 1 }, body: Buffer.from('{"prompt":"hellp"}') }),
  ]),
  acceptingV1('V16', 'lets a version 1 proof say nothing about the path', [
    step('ok', { claim: { version: 1 }, target: '/api/other' }),
  ]),
  acceptingV1('V8', 'refuses a version 1 proof on a request with a query', [
    step('request_not_coverable', { claim: { version: 1 }, target: '/api/invoke?admin=1' }),
  ]),
];
