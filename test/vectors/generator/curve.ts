import { ed25519ctx, ed25519ph } from '@noble/curves/ed25519.js';
import {
  type EdgeKey,
  edgeKey,
  GROUP_ORDER,
  join,
  namedScalar,
  readS,
  SMALL_ORDER_SPELLINGS,
  scalarOfSeed,
  signPastTorsion,
  signWith,
  solveS,
  TORSION,
} from '../../../libs/public/proof/src/curve-edge-cases.fixture.ts';
import { replace } from './change-headers.ts';
import { CLAIM, INTERN_KEY, inputV2, jwk, namedKey, scenario, step } from './proof.ts';
import type { Scenario } from './scenario.ts';

const INPUT = inputV2(CLAIM);
const OWN: EdgeKey = { scalar: scalarOfSeed(INTERN_KEY.seed), encoded: INTERN_KEY.publicKey };
const NONCE = namedScalar('ori vectors, R');
const HONEST = signWith(OWN, NONCE, INPUT);
/** Keeps the set from being empty. None of these signatures is made with it. */
const BYSTANDER = jwk(namedKey('bystander').publicKey);

function signature(
  sentence: string,
  title: string,
  bytes: Uint8Array,
  expect: 'ok' | 'signature_invalid' = 'signature_invalid',
) {
  const headers = replace('x-ori-invoke-signature-v2', Buffer.from(bytes).toString('base64'));
  return scenario(sentence, title, [step(expect, { headers })]);
}

function keyNotAdmitted(title: string, key: EdgeKey): Scenario {
  const bytes = signPastTorsion(key, title, INPUT);
  const headers = replace('x-ori-invoke-signature-v2', Buffer.from(bytes).toString('base64'));
  return scenario('K11', title, [step('signature_invalid', { headers })], {
    keys: [jwk(key.encoded), BYSTANDER],
  });
}

/** Cases in which Ed25519 implementations differ (KEY-SETS.md). Most of these pass in some engine in use. */
export const curveScenarios: Scenario[] = [
  signature('B5', 'accepts any R that the signer may choose', HONEST, 'ok'),
  ...SMALL_ORDER_SPELLINGS.map((encoded, index) =>
    keyNotAdmitted(`refuses what a small-order key seems to have signed, encoding ${index + 1}`, {
      scalar: 0n,
      encoded,
    }),
  ),
  ...[1, 2, 4, 7].map((multiple) =>
    keyNotAdmitted(
      `refuses what a key with torsion part ${multiple} signed`,
      edgeKey(namedScalar('ori vectors, mixed key'), TORSION[multiple]),
    ),
  ),
  ...SMALL_ORDER_SPELLINGS.map((spelledR, index) =>
    signature(
      'B3',
      `refuses R of small order, encoding ${index + 1}`,
      join(spelledR, solveS(OWN, 0n, spelledR, INPUT)),
    ),
  ),
  ...[1, 2, 4, 7].map((multiple) =>
    signature(
      'B5',
      `refuses R with torsion part ${multiple}`,
      signWith(OWN, NONCE, INPUT, TORSION[multiple]),
    ),
  ),
  signature('B4', 'refuses S with L added', join(HONEST.subarray(0, 32), readS(HONEST) + GROUP_ORDER)),
  signature(
    'B4',
    'refuses S with 15 L added',
    join(HONEST.subarray(0, 32), readS(HONEST) + 15n * GROUP_ORDER),
  ),
  signature('B4', 'refuses S equal to L', join(HONEST.subarray(0, 32), GROUP_ORDER)),
  signature('B4', 'refuses S of all ones', join(HONEST.subarray(0, 32), 2n ** 256n - 1n)),
  signature('B5', 'refuses S negated', join(HONEST.subarray(0, 32), GROUP_ORDER - readS(HONEST))),
  signature(
    'B5',
    'refuses R with its sign changed',
    HONEST.map((byte, index) => (index === 31 ? byte ^ 0x80 : byte)),
  ),
  signature('B5', 'refuses R that is no point', join(new Uint8Array(32).fill(2), readS(HONEST))),
  signature('B1', 'refuses a prehashed Ed25519 signature', ed25519ph.sign(INPUT, INTERN_KEY.seed)),
  signature(
    'B1',
    'refuses an Ed25519 signature made in a context',
    ed25519ctx.sign(INPUT, INTERN_KEY.seed, { context: new TextEncoder().encode('ori') }),
  ),
];
