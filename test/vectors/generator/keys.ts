import { INTERN_KEY, jwk, namedKey, scenario, step, TIMESTAMP } from './proof.ts';
import type { RefusalCode, Scenario } from './scenario.ts';

const OWN = jwk(INTERN_KEY.publicKey);
const OTHERS = ['a', 'b', 'c'].map((name) => jwk(namedKey(`rotated ${name}`).publicKey));
const RSA = { kty: 'RSA', use: 'sig', alg: 'RS256', kid: 'rsa', n: 'u1W', e: 'AQAB' };
const X25519 = { kty: 'OKP', crv: 'X25519', use: 'enc', kid: 'x', x: OWN.x };
const FOREIGN = [
  RSA,
  X25519,
  { kty: 'EC', crv: 'P-256', kid: 'ec', x: 'AA', y: 'AA' },
  { kty: 'oct', k: 'AA' },
];
const NEVER = { nbf: 0, exp: 1 };

function under(sentences: string, title: string, expect: 'ok' | RefusalCode, keys: unknown[]): Scenario {
  return scenario(sentences, title, [step(expect)], { keys });
}

/** Which published keys are admitted, and when (SPEC.md, section 4). */
export const keyScenarios: Scenario[] = [
  under('K12', 'accepts a key from its first second', 'ok', [jwk(INTERN_KEY.publicKey, { nbf: TIMESTAMP })]),
  under('K12', 'refuses a key one second before its first', 'key_unknown', [
    jwk(INTERN_KEY.publicKey, { nbf: TIMESTAMP + 1 }),
  ]),
  under('K12', 'refuses a key from the second it expires', 'key_unknown', [
    jwk(INTERN_KEY.publicKey, { exp: TIMESTAMP }),
  ]),
  under('K12', 'accepts a key until the second before it expires', 'ok', [
    jwk(INTERN_KEY.publicKey, { exp: TIMESTAMP + 1 }),
  ]),
  under('K12', 'accepts a key in the one second of its interval', 'ok', [
    jwk(INTERN_KEY.publicKey, { nbf: TIMESTAMP, exp: TIMESTAMP + 1 }),
  ]),
  under('K12', 'judges a key by the time of the proof and not by the clock', 'ok', [
    jwk(INTERN_KEY.publicKey, { exp: TIMESTAMP + 5 }),
  ]),
  under('K12 K7', 'takes interval bounds with fractions', 'key_unknown', [
    jwk(INTERN_KEY.publicKey, { nbf: TIMESTAMP + 0.5 }),
  ]),
  under('V14', 'refuses a proof when no key is good for its time', 'key_unknown', [
    jwk(INTERN_KEY.publicKey, NEVER),
    jwk(namedKey('rotated a').publicKey, { nbf: TIMESTAMP + 180 }),
  ]),
  under('K13', 'accepts the second of two keys', 'ok', [...OTHERS.slice(0, 1), OWN]),
  under('K13', 'accepts the third of three keys', 'ok', [...OTHERS.slice(0, 2), OWN]),
  under('K13', 'tries no more than three keys', 'signature_invalid', [...OTHERS, OWN]),
  under('K13', 'counts only keys whose interval holds the time toward three', 'ok', [
    ...['a', 'b', 'c'].map((name) => jwk(namedKey(`rotated ${name}`).publicKey, NEVER)),
    OWN,
  ]),
  under('K2 K9', 'passes over keys of other kinds', 'ok', [...FOREIGN, OWN]),
  under('K2', 'passes over an Ed25519 key for another use', 'key_unknown', [
    { ...OWN, use: 'enc' },
    jwk(namedKey('rotated a').publicKey, NEVER),
  ]),
  under('K2', 'passes over an Ed25519 key for another algorithm', 'key_unknown', [
    { ...OWN, alg: 'ES256' },
    jwk(namedKey('rotated a').publicKey, NEVER),
  ]),
  under('K2', 'accepts a key that names its algorithm', 'ok', [{ ...OWN, alg: 'EdDSA' }]),
  under('K2', 'accepts a key that names its operations', 'ok', [{ ...OWN, key_ops: ['verify'] }]),
  under('K6', 'leaves out a key whose id is not its thumbprint', 'signature_invalid', [
    { ...OWN, kid: jwk(namedKey('rotated a').publicKey).kid },
    ...OTHERS.slice(0, 1),
  ]),
  under('K4', 'leaves out a key published with its private part', 'signature_invalid', [
    { ...OWN, d: INTERN_KEY.seed.toString('base64url') },
    ...OTHERS.slice(0, 1),
  ]),
  under('K5', 'leaves out a key whose x has padding', 'signature_invalid', [
    { ...OWN, x: `${OWN.x}=` },
    ...OTHERS.slice(0, 1),
  ]),
  under('K5', 'leaves out a key whose x is spelt with other unused bits', 'signature_invalid', [
    { ...OWN, x: `${OWN.x.slice(0, 42)}p` },
    ...OTHERS.slice(0, 1),
  ]),
  under('K7', 'leaves out a key whose interval holds no time', 'signature_invalid', [
    { ...OWN, nbf: TIMESTAMP + 60, exp: TIMESTAMP - 60 },
    ...OTHERS.slice(0, 1),
  ]),
  under('K8', 'takes a repeated key for the interval it is first listed with', 'key_unknown', [
    jwk(INTERN_KEY.publicKey, NEVER),
    OWN,
  ]),
];
