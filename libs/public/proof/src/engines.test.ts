import { createPublicKey, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EngineCase, engineCorpus } from './engine-corpus.fixture.ts';
import { engine as portable } from './engine-portable.ts';
import { KeyError } from './errors.ts';
import { createVerificationKey } from './load-key.ts';
import { admitPublicKey as admitOpenssl } from './public-key.ts';
import { createSigningKey } from './signing.ts';

const CORPUS = engineCorpus();

type Verdict = 'accepted' | 'refused' | `not admitted: ${string}`;

type Judge = (edge: EngineCase) => Verdict;

const byOpenssl = judgeBy(admitOpenssl);
const admitPortable = (bytes: Uint8Array) => createVerificationKey(portable, bytes, {});
const byPortable = judgeBy(admitPortable);

/** Admits each key once, as a key set does. */
function judgeBy(admit: typeof admitOpenssl): Judge {
  const judges = new Map<string, Judge>();
  return (edge) => {
    const id = Buffer.from(edge.publicKey).toString('hex');
    const judge = judges.get(id) ?? judgeUnder(edge.publicKey, admit);
    judges.set(id, judge);
    return judge(edge);
  };
}

function judgeUnder(publicKey: Uint8Array, admit: typeof admitOpenssl): Judge {
  try {
    const key = admit(publicKey);
    return ({ input, signature }) => (key.verify(input, signature) ? 'accepted' : 'refused');
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return () => `not admitted: ${error.code}`;
  }
}

/** The verdict of the library without the rules of this package. */
function bareOpenssl({ publicKey, input, signature }: EngineCase): boolean {
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, input, key, signature);
}

function bareNoble({ publicKey, input, signature }: EngineCase, zip215: boolean): boolean {
  return ed25519.verify(signature, input, publicKey, { zip215 });
}

test('both engines agree on more than a thousand edge cases, and accept only the honest ones', () => {
  expect(CORPUS.length).toBeGreaterThanOrEqual(1000);
  const verdicts = CORPUS.map((edge) => ({
    title: edge.title,
    openssl: byOpenssl(edge),
    portable: byPortable(edge),
    honest: edge.honest,
  }));
  expect(verdicts.filter(({ openssl, portable }) => openssl !== portable)).toEqual([]);
  expect(verdicts.filter(({ openssl, honest }) => (openssl === 'accepted') !== honest)).toEqual([]);
  expect(verdicts.filter(({ honest }) => honest).length).toBeGreaterThan(0);
  expect(verdicts.filter(({ openssl }) => openssl === 'refused').length).toBeGreaterThan(700);
});

test('the corpus distinguishes engines without these rules', () => {
  const edges = CORPUS.filter(({ title }) => !title.startsWith('bit '));
  const strict = edges.filter((edge) => bareOpenssl(edge) !== bareNoble(edge, false));
  const lax = edges.filter((edge) => bareOpenssl(edge) !== bareNoble(edge, true));
  expect(strict.length).toBeGreaterThan(20);
  expect(lax.length).toBeGreaterThan(100);
});

test('none of the published edge cases is accepted', () => {
  const published = CORPUS.filter(({ title }) => title.startsWith('published'));
  expect(published.map(byOpenssl)).toEqual([
    'not admitted: key_small_order',
    'not admitted: key_small_order',
    'not admitted: key_not_torsion_free',
    'not admitted: key_not_torsion_free',
    'not admitted: key_not_torsion_free',
    'not admitted: key_not_torsion_free',
    'refused',
    'refused',
    'not admitted: key_not_torsion_free',
    'not admitted: key_not_torsion_free',
    'not admitted: key_small_order',
    'not admitted: key_small_order',
  ]);
});

test('both engines accept the signature of any key over any input', () => {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(bytes32, fc.uint8Array({ maxLength: 300 }), (seed, input) => {
      const key = createSigningKey(seed);
      const signature = key.sign(input);
      expect(admitOpenssl(key.publicKey).verify(input, signature)).toBe(true);
      expect(admitPortable(key.publicKey).verify(input, signature)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('a signature of another length is refused by both engines', () => {
  const key = createSigningKey(new Uint8Array(32));
  const input = new Uint8Array(3);
  const signature = key.sign(input);
  for (const admit of [admitOpenssl, admitPortable]) {
    const admitted = admit(key.publicKey);
    for (const bytes of [signature.subarray(0, 63), new Uint8Array(0), new Uint8Array([...signature, 0])]) {
      expect(admitted.verify(input, bytes)).toBe(false);
    }
  }
});
