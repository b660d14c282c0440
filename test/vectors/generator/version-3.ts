import { createHash, sign } from 'node:crypto';
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import { CLAIM, type Claim, INTERN_KEY, inputV2, namedKey, type TestKey } from './proof.ts';

/** A signature of the draft version 3 (SPEC.md, appendix A). */
export interface Version3Vector {
  title: string;
  /** The published key. */
  jwk: Record<string, unknown>;
  /** One character per byte. */
  signingInput: string;
  /** The value of `x-ori-invoke-signature-v3`. */
  signature: string;
  expect: 'ok' | 'refused';
}

type MlDsaKey = ReturnType<typeof ml_dsa44.keygen>;

const mlDsaKeyOf = (name: string): MlDsaKey =>
  ml_dsa44.keygen(createHash('sha256').update(`ori vectors, ML-DSA-44 key ${name}`).digest());

const OWN = mlDsaKeyOf('intern');

function inputV3(claim: Claim): Buffer {
  return Buffer.from(inputV2(claim).toString('latin1').replace('ori-invoke-v2', 'ori-invoke-v3'), 'latin1');
}

function jwkOf({ publicKey }: TestKey): Record<string, unknown> {
  const pub = Buffer.from(OWN.publicKey).toString('base64url');
  const ed25519 = publicKey.toString('base64url');
  return { kty: 'AKP', alg: 'ML-DSA-44', use: 'sig', pub, ed25519, nbf: 1_789_000_000, exp: 1_796_776_000 };
}

interface Made {
  readonly ed25519?: Buffer;
  readonly mlDsa?: Buffer;
}

const INPUT = inputV3(CLAIM);
const ed25519 = (input: Buffer, key = INTERN_KEY) => sign(null, input, key.privateKey);
/** The deterministic variant (FIPS 204, algorithm 2), so that the vectors can be made again. */
const mlDsa = (input: Buffer, key = OWN, context = Buffer.alloc(0)) =>
  Buffer.from(ml_dsa44.sign(input, key.secretKey, { extraEntropy: false, context }));

function vector(expect: 'ok' | 'refused', title: string, made: Made = {}, input = INPUT): Version3Vector {
  const bytes = [made.ed25519 ?? ed25519(INPUT), made.mlDsa ?? mlDsa(INPUT)];
  const signature = Buffer.concat(bytes).toString('base64');
  return { title, jwk: jwkOf(INTERN_KEY), signingInput: input.toString('latin1'), signature, expect };
}

const otherInput = inputV3({ ...CLAIM, path: '/api/other' });
const NOTHING = Buffer.alloc(0);

export const version3Vectors: Version3Vector[] = [
  vector('ok', 'accepts both signatures'),
  vector('refused', 'refuses both over another path', {}, otherInput),
  vector('refused', 'refuses Ed25519 over another path', { ed25519: ed25519(otherInput) }),
  vector('refused', 'refuses ML-DSA-44 over another path', { mlDsa: mlDsa(otherInput) }),
  vector('refused', 'refuses Ed25519 by another key', { ed25519: ed25519(INPUT, namedKey('mallory')) }),
  vector('refused', 'refuses ML-DSA-44 by another key', { mlDsa: mlDsa(INPUT, mlDsaKeyOf('mallory')) }),
  vector('refused', 'refuses Ed25519 alone', { mlDsa: NOTHING }),
  vector('refused', 'refuses ML-DSA-44 alone', { ed25519: NOTHING }),
  vector('refused', 'refuses signatures over the input of version 2', {
    ed25519: ed25519(inputV2(CLAIM)),
    mlDsa: mlDsa(inputV2(CLAIM)),
  }),
  vector('refused', 'refuses ML-DSA-44 with a context', { mlDsa: mlDsa(INPUT, OWN, Buffer.from('ori')) }),
];
