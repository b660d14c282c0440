import { alter, append, drop, rename, repeat, replace } from './change-headers.ts';
import { CLAIM, scenario, step } from './proof.ts';
import type { Scenario } from './scenario.ts';

const ALWAYS = ['x-ori-invoke-signature', 'x-ori-invoke-timestamp', 'x-ori-invoke-user'];
const V2 = ['x-ori-invoke-signature-v2', 'x-ori-invoke-nonce'];
const ALL = [...ALWAYS, ...V2];

/** Presence, number and names (SPEC.md, sections 3 and 4.1). */
export const headerScenarios: Scenario[] = [
  scenario('V15 B1', 'accepts the version 2 proof of the worked example', [
    step('ok', { claim: { nonce: 'AAECAwQFBgcICQoLDA0ODw' } }),
  ]),
  scenario('H1', 'accepts header names in capitals', [
    step('ok', { headers: (headers) => headers.map(([name, value]) => [name.toUpperCase(), value]) }),
  ]),
  scenario('H1', 'folds nothing outside ASCII in a header name', [
    step('proof_missing', { headers: rename('x-ori-invoke-user', 'x-ori-invo\xe2\x84\xaae-user') }),
  ]),
  scenario('H4', 'accepts a proof whose headers come in another order', [
    step('ok', { headers: (headers) => headers.toReversed() }),
  ]),
  scenario('H3', 'reads no header spelt with underscores or dots', [
    step('ok', {
      headers: append(
        ['x_ori_invoke_user', 'user_mallory'],
        ['x_ori_invoke_signature', 'AAAA'],
        ['x_ori_invoke_nonce', 'AAAAAAAAAAAAAAAAAAAAAA'],
        ['x.ori.invoke.user', 'user_mallory'],
        ['x-ori_invoke-timestamp', '0'],
      ),
    }),
  ]),
  scenario('V3', 'refuses a request without proof headers', [
    step('proof_missing', { headers: drop(...ALL) }),
  ]),
  scenario('V3', 'refuses a request with the version 2 headers alone', [
    step('proof_missing', { headers: drop(...ALWAYS) }),
  ]),
  ...ALWAYS.map((name) =>
    scenario('V3', `refuses a request without ${name}`, [step('proof_missing', { headers: drop(name) })]),
  ),
  ...V2.map((name) =>
    scenario('V4', `refuses a version 2 proof without ${name}`, [
      step('proof_malformed', { headers: drop(name) }),
    ]),
  ),
  ...ALL.map((name) =>
    scenario('H2 V4', `refuses ${name} given twice`, [step('proof_malformed', { headers: repeat(name) })]),
  ),
  scenario('H2 H1', 'refuses a header given twice in different capitals', [
    step('proof_malformed', { headers: repeat('x-ori-invoke-user', 'X-Ori-Invoke-User') }),
  ]),
  scenario('H2', 'refuses a second user after the one that was signed', [
    step('proof_malformed', { headers: append(['x-ori-invoke-user', 'user_mallory']) }),
  ]),
  scenario('H2', 'refuses a second user before the one that was signed', [
    step('proof_malformed', { headers: (headers) => [['x-ori-invoke-user', 'user_mallory'], ...headers] }),
  ]),
  ...ALL.map((name) =>
    scenario('F1 V4', `refuses ${name} twice in one line`, [
      step('proof_malformed', { headers: alter(name, (value) => `${value}, ${value}`) }),
    ]),
  ),
  ...ALL.map((name) =>
    scenario('F1 V4', `refuses an empty ${name}`, [step('proof_malformed', { headers: replace(name, '') })]),
  ),
  ...ALL.map((name) =>
    scenario('F1 V4', `refuses ${name} with a space after it`, [
      step('proof_malformed', { headers: alter(name, (value) => `${value} `) }),
    ]),
  ),
  ...[
    ['underscores', 'x_ori_invoke_user'],
    ['dots', 'x.ori.invoke.user'],
    ['a space at the end', 'x-ori-invoke-user '],
  ].map(([how, name]) =>
    scenario('H3', `takes no user from a header spelt with ${how}`, [
      step('proof_missing', { headers: rename('x-ori-invoke-user', name ?? '') }),
    ]),
  ),
  scenario('V4', 'refuses a malformed version 1 signature beside a good version 2', [
    step('proof_malformed', { headers: replace('x-ori-invoke-signature', 'AAAA') }),
  ]),
  scenario('V3', 'refuses for the absent header when another one is malformed', [
    step('proof_missing', {
      headers: (headers) => drop('x-ori-invoke-user')(replace('x-ori-invoke-timestamp', 'soon')(headers)),
    }),
  ]),
  scenario('V15', 'passes on exactly the user that was signed', [
    step('ok', { claim: { user: `${CLAIM.user}|tenant:7@example.com` } }),
  ]),
];
