import { INTERN_KEY, jwk, namedKey, scenario, step, TIMESTAMP } from './proof.ts';
import type { RefusalCode, Scenario } from './scenario.ts';

const own = (interval = {}) => jwk(INTERN_KEY.publicKey, interval);
export const OWN = own();
const ROTATED = ['a', 'b', 'c'].map((name) => namedKey(`rotated ${name}`).publicKey);
const OTHERS = ROTATED.map((key) => jwk(key));
export const OTHER = jwk(namedKey('rotated a').publicKey);
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

/** The intern's own key, modified, beside one that signed nothing. */
export function changed(
  sentences: string,
  title: string,
  change: Record<string, unknown>,
  expect: 'ok' | RefusalCode = 'signature_invalid',
): Scenario {
  return under(sentences, title, expect, [{ ...OWN, ...change }, OTHER]);
}

/** Which published keys are admitted, and when (KEY-SETS.md). */
export const keyScenarios: Scenario[] = [
  under('K12', 'accepts a key from its first second', 'ok', [own({ nbf: TIMESTAMP })]),
  under('K12', 'refuses a key one second before its first', 'key_unknown', [own({ nbf: TIMESTAMP + 1 })]),
  under('K12', 'refuses a key from the second it expires', 'key_unknown', [own({ exp: TIMESTAMP })]),
  under('K12', 'accepts a key until the second before it expires', 'ok', [own({ exp: TIMESTAMP + 1 })]),
  under('K12', 'accepts a key in the one second of its interval', 'ok', [
    own({ nbf: TIMESTAMP, exp: TIMESTAMP + 1 }),
  ]),
  under('K12', 'judges a key by the time of the proof and not by the clock', 'ok', [
    own({ exp: TIMESTAMP + 5 }),
  ]),
  under('K12 K7', 'takes interval bounds with fractions', 'key_unknown', [own({ nbf: TIMESTAMP + 0.5 })]),
  under('V14', 'refuses a proof when no key is good for its time', 'key_unknown', [
    own(NEVER),
    jwk(namedKey('rotated a').publicKey, { nbf: TIMESTAMP + 180 }),
  ]),
  under('K13', 'accepts the second of two keys', 'ok', [...OTHERS.slice(0, 1), OWN]),
  under('K13', 'accepts the third of three keys', 'ok', [...OTHERS.slice(0, 2), OWN]),
  under('K13', 'tries no more than three keys', 'signature_invalid', [...OTHERS, OWN]),
  under('K13', 'counts only keys whose interval holds the time toward three', 'ok', [
    ...ROTATED.map((key) => jwk(key, NEVER)),
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
  changed('K6', 'leaves out a key whose id is not its thumbprint', { kid: OTHER.kid }),
  changed('K4', 'leaves out a key published with its private part', {
    d: INTERN_KEY.seed.toString('base64url'),
  }),
  changed('K5', 'leaves out a key whose x has padding', { x: `${OWN.x}=` }),
  changed('K5', 'leaves out a key whose x is spelt with other unused bits', { x: `${OWN.x.slice(0, 42)}p` }),
  changed('K7', 'leaves out a key whose interval holds no time', {
    nbf: TIMESTAMP + 60,
    exp: TIMESTAMP - 60,
  }),
  under('K8', 'takes a repeated key for the interval it is first listed with', 'key_unknown', [
    own(NEVER),
    OWN,
  ]),
];
