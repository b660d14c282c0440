import { alter, replace } from './change-headers.ts';
import { scenario, step } from './proof.ts';
import type { RefusalCode, Scenario } from './scenario.ts';

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PRINTABLE = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');

function badTimestamp(how: string, timestamp: string, expect: RefusalCode = 'proof_malformed'): Scenario {
  return scenario('F1 V4', `refuses a timestamp ${how}`, [step(expect, { claim: { timestamp } })]);
}

function badUser(how: string, user: string): Scenario {
  return scenario('F1 V4', `refuses a user ${how}`, [step('proof_malformed', { claim: { user } })]);
}

function badNonce(how: string, nonce: string): Scenario {
  return scenario('F1 V4', `refuses a nonce ${how}`, [step('proof_malformed', { claim: { nonce } })]);
}

function badSignature(how: string, change: (text: string) => string): Scenario {
  return scenario('B2 V4', `refuses a signature ${how}`, [
    step('proof_malformed', { headers: alter('x-ori-invoke-signature-v2', change) }),
  ]);
}

/** In many languages `$` matches before a trailing line feed. */
const withLineFeed = (text: string) => `${text}\n`;

/** The same 64 bytes with `atob` and similar decoders: only discarded bits differ. */
function spellLastCharacter(text: string, distance: number): string {
  const index = BASE64.indexOf(text.charAt(85)) + distance;
  return `${text.slice(0, 85)}${BASE64.charAt(index)}==`;
}

/** Alphabets and spellings (SPEC.md, sections 1 and 2). Every signature here is over exactly the text that is sent. */
export const fieldScenarios: Scenario[] = [
  badTimestamp('with a leading zero', '01789000000'),
  badTimestamp('with a plus sign', '+1789000000'),
  badTimestamp('below zero', '-1'),
  badTimestamp('with a fraction', '1789000000.0'),
  badTimestamp('in milliseconds', '1789000000000'),
  badTimestamp('in hex', '0x6aa21f40'),
  badTimestamp('with an exponent', '1789e6'),
  badTimestamp('with a separator', '1_789_000_000'),
  badTimestamp('spelt NaN', 'NaN'),
  badTimestamp('in Arabic-Indic digits sent as UTF-8', Buffer.from('١٧٨٩٠٠٠٠٠٠').toString('latin1')),
  badTimestamp('of zero as expired', '0', 'proof_expired'),
  badTimestamp('of one digit as expired', '5', 'proof_expired'),
  badTimestamp('of twelve nines as not yet valid', '999999999999', 'proof_not_yet_valid'),
  badTimestamp('with a line feed after it', withLineFeed('1789000000')),
  badTimestamp('of thirteen digits', '0001789000000'),
  badTimestamp('with a space before it', ' 1789000000'),
  badUser('with a line feed after it', withLineFeed('user_2abc')),
  badUser('with a carriage return after it', 'user_2abc\r'),
  badUser('with a comma after it', 'user_2abc,'),
  badUser('with a no-break space', 'user\xa02abc'),
  badUser('with a comma', 'user_2abc,user_mallory'),
  badUser('with a space', 'user 2abc'),
  badUser('with a tab', 'user\t2abc'),
  badUser('with a line feed', 'user_2abc\nx-ori-invoke-user: user_mallory'),
  badUser('with a NUL', 'user_2abc\0'),
  badUser('with DEL', 'user_2abc\x7f'),
  badUser('outside ASCII', 'us\xe9r'),
  badUser('of 256 characters', 'u'.repeat(256)),
  scenario('F1', 'accepts a user of 255 characters', [step('ok', { claim: { user: 'u'.repeat(255) } })]),
  scenario('F1', 'accepts a user of one character', [step('ok', { claim: { user: '0' } })]),
  scenario('F1', 'accepts a user of every character it may have', [
    step('ok', { claim: { user: PRINTABLE.replace(',', '') } }),
  ]),
  badNonce('of 21 characters', 'AAECAwQFBgcICQoLDA0OD'),
  badNonce('of 23 characters', 'AAECAwQFBgcICQoLDA0ODwA'),
  badNonce('with padding', 'AAECAwQFBgcICQoLDA0ODw=='),
  badNonce('in the standard alphabet', '++//AwQFBgcICQoLDA0ODw'),
  badNonce('whose last character has bits set that no byte has', 'AAECAwQFBgcICQoLDA0ODx'),
  badNonce('in hex', '000102030405060708090a0b0c0d0e0f'),
  badNonce('with a line feed after it', withLineFeed('AAECAwQFBgcICQoLDA0ODw')),
  badNonce('whose last character is spelt one further', 'AAECAwQFBgcICQoLDA0ODh'),
  badSignature('with a line feed after it', withLineFeed),
  badSignature('with a space before it', (text) => ` ${text}`),
  badSignature('with padding in the middle', (text) => `${text.slice(0, 42)}==${text.slice(44)}`),
  badSignature('without padding', (text) => text.slice(0, 86)),
  badSignature('with half the padding', (text) => text.slice(0, 87)),
  badSignature('with padding to spare', (text) => `${text}=`),
  badSignature('in the URL-safe alphabet', (text) => `${text.slice(0, 10)}-_${text.slice(12)}`),
  badSignature('with a space inside', (text) => `${text.slice(0, 44)} ${text.slice(44)}`),
  badSignature('with a line break inside', (text) => `${text.slice(0, 64)}\r\n${text.slice(64)}`),
  badSignature('of 63 bytes', (text) => Buffer.from(text, 'base64').subarray(0, 63).toString('base64')),
  badSignature('of 65 bytes', (text) =>
    Buffer.concat([Buffer.from(text, 'base64'), Buffer.alloc(1)]).toString('base64'),
  ),
  badSignature('in hex', (text) => Buffer.from(text, 'base64').toString('hex')),
  badSignature('with a character outside ASCII', (text) => `\xe9${text.slice(1)}`),
  ...Array.from({ length: 15 }, (_, index) =>
    badSignature(`whose last character is spelt ${index + 1} further`, (text) =>
      spellLastCharacter(text, index + 1),
    ),
  ),
  scenario('F1 V16', 'signs the escapes of a path as they are spelt', [
    step('ok', { claim: { path: '/api/a%2fb%C3%a9' } }),
  ]),
  scenario('F1', 'accepts the user in the capitals it has', [
    step('ok', { claim: { user: 'USER_2abc@Example.COM' } }),
  ]),
  scenario('F1', 'accepts a nonce with every kind of character', [
    step('ok', { claim: { nonce: '-_09azAZ-_09azAZ-_09aQ' } }),
  ]),
  scenario(
    'V4',
    'refuses a version 1 proof whose signature is malformed',
    [
      step('proof_malformed', {
        claim: { version: 1 },
        headers: alter('x-ori-invoke-signature', withLineFeed),
      }),
    ],
    { verifier: { acceptV1: true } },
  ),
  scenario('B2 V4', 'refuses a version 1 signature without padding beside a good version 2', [
    step('proof_malformed', { headers: alter('x-ori-invoke-signature', (text) => text.slice(0, 86)) }),
  ]),
  scenario('B3', 'refuses 64 zero bytes as a signature', [
    step('signature_invalid', {
      headers: replace('x-ori-invoke-signature-v2', `${'A'.repeat(86)}==`),
    }),
  ]),
];
