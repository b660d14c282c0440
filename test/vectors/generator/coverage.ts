import { append, replace } from './change-headers.ts';
import { BODY, namedKey, namedNonce, scenario, step, TIMESTAMP } from './proof.ts';
import type { Scenario } from './scenario.ts';

function moved(what: string, path: string, target: string): Scenario {
  return scenario('V15 V16', `refuses a path ${what}`, [
    step('signature_invalid', { claim: { path }, target }),
  ]);
}

function altered(what: string, body: Buffer): Scenario {
  return scenario('V15 V16', `refuses a body ${what}`, [step('signature_invalid', { body })]);
}

/** The signature is over the verifier's own values (SPEC.md, section 4.5). */
export const coverageScenarios: Scenario[] = [
  scenario('V15', 'refuses a proof made for another intern', [
    step('signature_invalid', { claim: { internId: 'int_7Qm3' } }),
  ]),
  scenario('V15', 'refuses a proof for an intern whose id differs in capitals', [
    step('signature_invalid', { claim: { internId: 'int_7qm2' } }),
  ]),
  scenario('V15', 'refuses a proof under the key of another intern', [
    step('signature_invalid', { claim: { key: namedKey('another intern') } }),
  ]),
  scenario('V15', 'refuses another user than the one signed', [
    step('signature_invalid', { headers: replace('x-ori-invoke-user', 'user_mallory') }),
  ]),
  scenario('V15', 'refuses a user whose capitals were changed', [
    step('signature_invalid', { headers: replace('x-ori-invoke-user', 'User_2abc') }),
  ]),
  scenario('V15', 'refuses a timestamp one second later than signed', [
    step('signature_invalid', { headers: replace('x-ori-invoke-timestamp', String(TIMESTAMP + 1)) }),
  ]),
  scenario('V15', 'refuses another nonce than the one signed', [
    step('signature_invalid', { headers: replace('x-ori-invoke-nonce', namedNonce('another')) }),
  ]),
  ...['', 'int 7Qm2', '_int', 'i'.repeat(129)].map((internId) =>
    scenario(
      'F1',
      `cannot be configured for the intern id ${JSON.stringify(internId).slice(0, 16)} of ${internId.length} characters`,
      [],
      {
        verifier: { internId },
        expect: 'refused',
      },
    ),
  ),
  scenario(
    'F1',
    'accepts an intern id of one character',
    [step('ok', { claim: { internId: '7' }, internId: '7' })],
    {
      verifier: { internId: '7' },
    },
  ),
  scenario(
    'F1',
    'accepts an intern id of 128 characters',
    [step('ok', { claim: { internId: '0'.padEnd(128, '-_aZ9') }, internId: '0'.padEnd(128, '-_aZ9') })],
    { verifier: { internId: '0'.padEnd(128, '-_aZ9') } },
  ),
  moved('other than the one signed', '/api/invoke', '/api/other'),
  moved('with a slash added at the end', '/api/invoke', '/api/invoke/'),
  moved('whose capitals were changed', '/api/invoke', '/API/invoke'),
  moved('that was percent-decoded', '/api/%69nvoke', '/api/invoke'),
  moved('that was percent-encoded', '/api/invoke', '/api/%69nvoke'),
  moved('whose escapes changed case', '/api/a%2fb', '/api/a%2Fb'),
  moved('whose dot segments were removed', '/api/./x/../invoke', '/api/invoke'),
  moved('whose slashes were merged', '//api//invoke', '/api/invoke'),
  moved('under a prefix', '/api/invoke', '/int_7Qm2/api/invoke'),
  altered('with one bit changed', Buffer.from('{"prompt":"iello"}')),
  altered('with a line feed after it', Buffer.concat([BODY, Buffer.from('\n')])),
  altered('with white space in it', Buffer.from('{"prompt": "hello"}')),
  altered('with a byte order mark', Buffer.concat([Buffer.from('efbbbf', 'hex'), BODY])),
  altered('cut short', BODY.subarray(0, -1)),
  altered('that is empty', Buffer.alloc(0)),
  scenario('V15', 'accepts an empty body that was signed', [
    step('ok', { claim: { body: Buffer.alloc(0) } }),
  ]),
  scenario('V15', 'accepts a body that is not UTF-8', [
    step('ok', { claim: { body: Buffer.from('00ff80c0fe0d0a', 'hex') } }),
  ]),
  scenario('V15', 'tells two bodies apart that decode alike', [
    step('signature_invalid', { claim: { body: Buffer.from([0xff]) }, body: Buffer.from('\ufffd') }),
  ]),
  scenario('V16', 'says nothing about headers it does not cover', [
    step('ok', { headers: append(['x-forwarded-for', '203.0.113.7'], ['x-request-id', 'changed']) }),
  ]),
];
