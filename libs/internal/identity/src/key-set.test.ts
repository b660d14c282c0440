import { createIssuerKey } from '@ori/test-env/issuer-keys';
import { expect, test } from 'vitest';
import { readKeySet } from './key-set.ts';

const [mine, other] = [await createIssuerKey('ES256'), await createIssuerKey('ES256')];
const { publicJwk: jwk, kid } = mine;
const header = { alg: 'ES256', kid };
const { kid: _, ...nameless } = jwk;

test.each<[string, readonly unknown[]]>([
  ['an entry that is null', [null]],
  ['an entry without kty', [{ kid: 'z' }]],
  ['an empty entry', [{}]],
  ['an entry that is a list', [[jwk]]],
  ['a key of a kind that is not supported', [{ kty: 'AKP', alg: 'ML-DSA-65', pub: 'AA', kid: 'q' }]],
  ['the same id on a key that is no point of its curve', [{ ...jwk, x: 'AAAA' }]],
  [
    'more than 100 further keys',
    Array.from({ length: 120 }, (_, i) => ({ ...other.publicJwk, kid: `${i}` })),
  ],
])('%s leaves the other keys usable', async (_, more) => {
  expect(await readKeySet({ keys: [...more, jwk] })(header)).toHaveLength(1);
});

test.each<[string, readonly unknown[], typeof header | { alg: string }, number]>([
  ['the same key twice', [jwk, jwk], header, 2],
  ['two keys of one id', [jwk, { ...other.publicJwk, kid }], header, 2],
  ['keys without ids', [nameless, other.publicJwk], { alg: 'ES256' }, 2],
  ['a key without an id, for a token that names one', [nameless], header, 0],
  ['keys of another algorithm', [jwk], { alg: 'RS256' }, 0],
  [
    'a key with the operations of both halves',
    [{ ...jwk, use: undefined, key_ops: ['sign', 'verify'] }],
    header,
    1,
  ],
  ['a key for encryption', [{ ...jwk, use: 'enc' }], header, 0],
  ['more keys than are tried for one token', Array(20).fill(nameless), { alg: 'ES256' }, 16],
])('%s', async (_, keys, wanted, found) => {
  expect(await readKeySet({ keys })(wanted)).toHaveLength(found);
});

test.each(['EdDSA', 'Ed25519'])(
  'a key that calls its algorithm %s verifies tokens that use either name',
  async (alg) => {
    const { publicJwk } = await createIssuerKey('EdDSA');
    for (const other of ['EdDSA', 'Ed25519'])
      expect(
        await readKeySet({ keys: [{ ...publicJwk, alg }] })({ alg: other, kid: publicJwk.kid }),
      ).toHaveLength(1);
  },
);

test.each([null, [], {}, { keys: {} }])('%j is no key set', (value) => {
  expect(() => readKeySet(value)).toThrow(Error);
});
