import { changed, OTHER, OWN } from './keys.ts';
import { INTERN_KEY, jwk, keysStep, namedKey, namedNonce, scenario, step, TIMESTAMP } from './proof.ts';
import type { Scenario } from './scenario.ts';

const ENDED = { nbf: 0, exp: 1 };
const KELVIN = '\u212a';

function without(name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(OWN).filter(([member]) => member !== name));
}

function whole(title: string, jwks: unknown): Scenario[] {
  const before = { claim: { nonce: namedNonce('before') } };
  return [
    scenario('K1', `refuses ${title} as a whole`, [], { jwks, expect: 'refused' }),
    scenario('K1', `keeps the keys it has when ${title} is fetched`, [
      step('ok', before),
      keysStep('refused', jwks),
      step('ok'),
    ]),
  ];
}

const FOREIGN = { kty: 'RSA', n: 'u1W', e: 'AQAB' };

/** How a published set is read (KEY-SETS.md). */
export const keySetScenarios: Scenario[] = [
  ...whole('a set of 101 keys', { keys: [OWN, ...Array.from({ length: 100 }, () => FOREIGN)] }),
  ...whole('a set with a number for a key', { keys: [OWN, 7] }),
  ...whole('a set with null for a key', { keys: [null, OWN] }),
  ...whole('a set with a list for a key', { keys: [OWN, []] }),
  ...whole('a set with text for a key', { keys: [OWN, 'key'] }),
  ...whole('an object without keys', {}),
  ...whole('a set whose keys are an object', { keys: { 0: OWN } }),
  ...whole('a list of keys', [OWN]),
  ...whole('null', null),
  scenario('K1 K13', 'takes a set of 100 keys', [step('ok')], {
    keys: [...Array.from({ length: 99 }, () => FOREIGN), OWN],
  }),
  scenario('K1', 'takes its keys by their exact name', [], { jwks: { Keys: [OWN] }, expect: 'refused' }),
  scenario('K9', 'takes an object with more members than keys', [step('ok')], {
    jwks: { keys: [OWN], more: [1] },
  }),
  changed('K2', 'passes over a key of another curve', { crv: 'Ed448' }),
  changed('K2', 'passes over a key of a curve in capitals', { crv: 'ED25519' }),
  changed('K2', 'passes over a key without a curve', { crv: undefined }),
  changed('K2', 'passes over a key of another type', { kty: 'EC' }),
  changed('K2', 'passes over a key without a type', { kty: undefined }),
  changed('K2', 'takes members by their exact names', { kty: undefined, KTY: 'OKP' }),
  changed('K2', 'passes over a key whose use is null', { use: null }),
  changed('K2', 'passes over a key whose use is empty', { use: '' }),
  changed('K2', 'passes over a key whose alg is null', { alg: null }),
  changed('K2', 'passes over a key whose alg is in capitals', { alg: 'EDDSA' }),
  changed('K2', 'takes the algorithm Ed25519', { alg: 'Ed25519' }, 'ok'),
  changed('K2', 'passes over a key whose operations lack verify', { key_ops: ['sign'] }),
  changed('K2', 'passes over a key without any operation', { key_ops: [] }),
  changed('K2', 'passes over a key whose operations are text', { key_ops: 'verify' }),
  changed('K2', 'passes over a key whose operations are null', { key_ops: null }),
  changed('K2', 'takes verify among other operations', { key_ops: ['sign', 'verify'] }, 'ok'),
  changed('K3', 'takes a key without a use', { use: undefined }, 'ok'),
  changed('K3', 'takes a key without an id', { kid: undefined }, 'ok'),
  scenario('K3', 'takes a key of three members', [step('ok')], {
    keys: [{ kty: OWN.kty, crv: OWN.crv, x: OWN.x }],
  }),
  changed('K3', 'takes a key with members it does not know', { x5u: 'https://example', ext: true }, 'ok'),
  changed('K4', 'leaves out a key with an empty private part', { d: '' }),
  changed('K4', 'leaves out a key whose private part is null', { d: null }),
  changed('K4', 'leaves out a key with the private part of an AKP key', { priv: 'AAAA' }),
  changed('K4', 'leaves out a key with the private part of an oct key', { k: 'AAAA' }),
  scenario('K5', 'leaves out a key without x', [step('signature_invalid')], { keys: [without('x'), OTHER] }),
  changed('K5', 'leaves out a key whose x is a number', { x: 7 }),
  changed('K5', 'leaves out a key whose x is one character short', { x: OWN.x.slice(0, 42) }),
  changed('K5', 'leaves out a key without an id whose x is of 35 bytes', {
    x: Buffer.concat([INTERN_KEY.publicKey, Buffer.alloc(3)]).toString('base64url'),
    kid: undefined,
  }),
  changed('K5', 'leaves out a key whose x is followed by a line feed', { x: `${OWN.x}\n` }),
  changed('K5', 'leaves out a key whose x is in the standard alphabet', { x: OWN.x.replaceAll('_', '/') }),
  changed('K5', 'leaves out a key whose x holds a character outside ASCII', {
    x: OWN.x.replace('K', KELVIN),
  }),
  ...[
    ['is followed by a line feed', `${OWN.x}\n`],
    ['has padding', `${OWN.x}=`],
    ['has loose bits', `${OWN.x.slice(0, 42)}p`],
    ['is in the standard alphabet', OWN.x.replaceAll('_', '/')],
  ].map(([how, x]) => changed('K5', `leaves out a key without an id whose x ${how}`, { x, kid: undefined })),
  changed('K6', 'leaves out a key with an empty id', { kid: '' }),
  changed('K6', 'leaves out a key whose id is null', { kid: null }),
  changed('K6', 'leaves out a key whose id is a number', { kid: 0 }),
  changed('K6', 'leaves out a key whose id differs in capitals', { kid: OWN.kid.toLowerCase() }),
  ...(['nbf', 'exp'] as const).flatMap((bound) => [
    changed('K7', `leaves out a key whose ${bound} is null`, { [bound]: null }),
    changed('K7', `leaves out a key whose ${bound} is true`, { [bound]: true }),
    changed('K7', `leaves out a key whose ${bound} is false`, { [bound]: false }),
    changed('K7', `leaves out a key whose ${bound} is a list`, { [bound]: [] }),
    changed('K7', `leaves out a key whose ${bound} is below zero`, { [bound]: -1 }),
    changed('K7', `leaves out a key whose ${bound} is text`, {
      [bound]: String(bound === 'nbf' ? TIMESTAMP : TIMESTAMP + 60),
    }),
  ]),
  changed('K7', 'leaves out a key whose interval is empty', { nbf: TIMESTAMP, exp: TIMESTAMP }),
  changed('K7', 'takes an end with a fraction', { exp: TIMESTAMP + 0.5 }, 'ok'),
  changed('K7', 'takes a beginning with a fraction', { nbf: TIMESTAMP - 0.5 }, 'ok'),
  changed('K7', 'takes a key from the first second there is', { nbf: 0 }, 'ok'),
  scenario(
    'K7 K8',
    'takes a key that ended in the first second there is, and no later listing of it',
    [step('key_unknown')],
    {
      keys: [{ ...OWN, exp: 0 }, OWN],
    },
  ),
  changed('K12', 'ends a key before the second its fraction is in', { exp: TIMESTAMP - 0.5 }),
  scenario('K8', 'takes the first of two listings and keeps the key', [step('ok')], { keys: [OWN, OWN] }),
  scenario('K8', 'takes a later listing when the first was left out', [step('ok')], {
    keys: [{ ...OWN, exp: null }, OWN],
  }),
  scenario('K8', 'takes a later listing when the first was passed over', [step('ok')], {
    keys: [{ ...OWN, use: 'enc' }, OWN],
  }),
  scenario('K8 K12', 'takes a repeated key until the end of its first listing', [step('key_unknown')], {
    keys: [{ ...OWN, exp: TIMESTAMP - 1 }, OWN],
  }),
  scenario('K8 K13', 'counts a repeated key once toward three', [step('ok')], {
    keys: [OTHER, OTHER, OTHER, OWN],
  }),
  scenario('K13', 'uses the last of nine keys of which eight are not valid yet', [step('ok')], {
    keys: [
      ...Array.from({ length: 8 }, (_, index) =>
        jwk(namedKey(`future ${index}`).publicKey, { nbf: TIMESTAMP + 1 }),
      ),
      OWN,
    ],
  }),
  ...[
    ['latest', TIMESTAMP, [1, 2, 3]],
    ['earliest', 1, [TIMESTAMP, TIMESTAMP - 1, TIMESTAMP - 2]],
  ].map(([which = '', own, others]) =>
    scenario('K13', `uses the first of four keys though its interval begins ${which}`, [step('ok')], {
      keys: [
        { ...OWN, nbf: own },
        ...[others].flat().map((nbf, index) => ({ ...jwk(namedKey(`order ${index}`).publicKey), nbf })),
      ],
    }),
  ),
  scenario('K7 K8', 'takes a later listing when the interval of the first was empty', [step('ok')], {
    keys: [{ ...OWN, nbf: TIMESTAMP, exp: TIMESTAMP }, OWN],
  }),
  scenario('K11 V14', 'knows no key when the only one is no point', [step('key_unknown')], {
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 2).toString('base64url') }],
  }),
  scenario('K11 V14', 'knows no key when the only one is the identity', [step('key_unknown')], {
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: Buffer.from('01'.padEnd(64, '0'), 'hex').toString('base64url') }],
  }),
  scenario('K9', 'uses the rest of a set of which nine kinds are left out', [step('ok')], {
    keys: [
      { ...OTHER, d: 'AA' },
      { ...OTHER, x: 'AA' },
      { ...OTHER, kid: 'AA' },
      { ...OTHER, nbf: 'soon' },
      { ...OTHER, ...ENDED, nbf: 2 },
      { kty: 'OKP', crv: 'Ed25519' },
      { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) },
      { kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 2).toString('base64url') },
      {},
      OWN,
    ],
  }),
  scenario('K11', 'leaves out a key whose y is not below p', [step('signature_invalid')], {
    keys: [
      { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(`f1${'ff'.repeat(30)}7f`, 'hex').toString('base64url') },
      OTHER,
    ],
  }),
  scenario('K11', 'leaves out 32 bytes that are no point', [step('signature_invalid')], {
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 2).toString('base64url') }, OTHER],
  }),
  scenario('V14', 'knows no key after a set of none', [
    step('ok'),
    keysStep('done', { keys: [] }),
    step('key_unknown', {
      claim: { nonce: namedNonce('after') },
    }),
  ]),
  scenario(
    'V14',
    'uses a key that is published later',
    [step('signature_invalid'), keysStep('done', { keys: [OTHER, OWN] }), step('ok')],
    { keys: [OTHER] },
  ),
  scenario('V14', 'stops using a key that is withdrawn', [
    step('ok'),
    keysStep('done', { keys: [OTHER] }),
    step('signature_invalid', { claim: { nonce: namedNonce('after') } }),
  ]),
];
