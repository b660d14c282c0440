import { expect, test } from 'vitest';
import { edgeKey, scalarOfSeed, TORSION } from './curve-edge-cases.fixture.ts';
import { KeyError, type KeyErrorCode } from './errors.ts';
import { type PublicJwk, renderJwkSet } from './jwk-set.ts';
import { parseJwkSet } from './read-jwk-set.ts';
import { createSigningKey } from './signing.ts';

const PUBLIC_KEY = createSigningKey(new Uint8Array(32).fill(7)).publicKey;
const OTHER_KEY = createSigningKey(new Uint8Array(32).fill(8)).publicKey;
const JWK = only(renderJwkSet([{ publicKey: PUBLIC_KEY }]).keys);

function only(keys: readonly PublicJwk[]): PublicJwk {
  const [key] = keys;
  if (key === undefined) throw new Error('no key');
  return key;
}

function refusals(keys: unknown[]): [number, KeyErrorCode][] {
  const refused: [number, KeyErrorCode][] = [];
  parseJwkSet({ keys }, ({ index, error }) => refused.push([index, error.code]));
  return refused;
}

function codeOf(parse: () => unknown): KeyErrorCode | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return error instanceof KeyError ? error.code : undefined;
  }
}

test('renders the key of RFC 8037 with its thumbprint as key id', () => {
  const publicKey = Buffer.from('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'base64url');
  expect(renderJwkSet([{ publicKey, notBefore: 1, expiresAt: 2 }])).toEqual({
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        use: 'sig',
        kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        nbf: 1,
        exp: 2,
      },
    ],
  });
});

test('parses what it renders, in order, with the intervals', () => {
  const keys = parseJwkSet(
    JSON.parse(
      JSON.stringify(
        renderJwkSet([{ publicKey: OTHER_KEY }, { publicKey: PUBLIC_KEY, notBefore: 5, expiresAt: 9 }]),
      ),
    ),
  );
  expect(keys.map(({ publicKey, notBefore, expiresAt }) => [publicKey, notBefore, expiresAt])).toEqual([
    [OTHER_KEY, undefined, undefined],
    [PUBLIC_KEY, 5, 9],
  ]);
});

test.each<[string, Record<string, unknown>]>([
  ['kty', { kty: 'RSA' }],
  ['crv', { crv: 'Ed448' }],
  ['use', { use: 'enc' }],
  ['alg', { alg: 'ES256' }],
  ['key_ops', { key_ops: ['sign'] }],
  ['kind of key_ops', { key_ops: 'verify' }],
])('leaves out a key with another %s, and does not report it', (_, change) => {
  expect(refusals([{ ...JWK, ...change }])).toEqual([]);
  expect(parseJwkSet({ keys: [{ ...JWK, ...change }] })).toEqual([]);
});

// SPEC.md K10.
test.each<[string, KeyErrorCode, Record<string, unknown>]>([
  ['its private part', 'key_private_part', { d: 'AAAA' }],
  ['the private part of an AKP key', 'key_private_part', { priv: 'AAAA' }],
  ['the private part of an oct key', 'key_private_part', { k: 'AAAA' }],
  ['another type and its private part', 'key_private_part', { kty: 'AKP', alg: 'ML-DSA-44', priv: 'AAAA' }],
  ['no x', 'key_encoding', { x: undefined }],
  ['an x that is not a string', 'key_encoding', { x: 7 }],
  ['a padded x', 'key_encoding', { x: `${JWK.x}=` }],
  ['an x in the standard alphabet', 'key_encoding', { x: `${'+'.repeat(42)}A` }],
  ['an x of 31 bytes', 'key_encoding', { x: 'A'.repeat(42) }],
  ['an x that is not a point', 'key_not_on_curve', { x: Buffer.alloc(32, 2).toString('base64url') }],
  ['an x of small order', 'key_small_order', { x: Buffer.alloc(32).toString('base64url') }],
  [
    'an x not below p',
    'key_not_canonical',
    { x: Buffer.from(`f0${'ff'.repeat(30)}7f`, 'hex').toString('base64url') },
  ],
  ['a kid that is not its thumbprint', 'key_id_mismatch', { kid: 'key-1' }],
  ['an nbf that is text', 'key_interval', { nbf: '5' }],
  ['an exp that is null', 'key_interval', { exp: null }],
  ['an exp below zero', 'key_interval', { exp: -1 }],
  ['an exp that is its nbf', 'key_interval', { nbf: 5, exp: 5 }],
])('leaves out and reports a key with %s, and keeps the others', (_, code, change) => {
  const [good] = renderJwkSet([{ publicKey: OTHER_KEY }]).keys;
  const keys = [{ ...JWK, ...change }, good];
  expect(refusals(keys)).toEqual([[0, code]]);
  expect(parseJwkSet({ keys }).map((key) => key.publicKey)).toEqual([OTHER_KEY]);
});

test('leaves out a key with a torsion part', () => {
  const { encoded } = edgeKey(scalarOfSeed(new Uint8Array(32).fill(7)), TORSION[1]);
  expect(refusals([{ ...JWK, kid: undefined, x: Buffer.from(encoded).toString('base64url') }])).toEqual([
    [0, 'key_not_torsion_free'],
  ]);
});

test('reports the second of two entries for one key', () => {
  expect(refusals([{ ...JWK, exp: 9 }, JWK])).toEqual([[1, 'key_repeated']]);
});

test.each([undefined, null, 'keys', [], { keys: {} }, { keys: [7] }, { keys: [null] }, { keys: [[]] }])(
  'says of %j that it is no set',
  (value) => {
    expect(codeOf(() => parseJwkSet(value))).toBe('key_set_malformed');
  },
);

test('says of 101 keys, of any kind, that they are too many', () => {
  const foreign = Array.from({ length: 100 }, () => ({ kty: 'RSA' }));
  expect(codeOf(() => parseJwkSet({ keys: [...foreign, JWK] }))).toBe('key_set_too_large');
});

test('an error that is not about a key is not taken for one', () => {
  const broken = new TypeError('broken');
  const entry = {
    get kty() {
      throw broken;
    },
  };
  expect(() => parseJwkSet({ keys: [entry] })).toThrow(broken);
});
