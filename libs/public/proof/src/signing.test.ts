import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { KeyError } from './errors.ts';
import { isNonce } from './fields.ts';
import { thumbprint } from './public-key.ts';
import { createNonce, createSigningKey, type SigningKey, selfTest } from './signing.ts';

const SEED = Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex');

function thrown(act: () => void): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error instanceof KeyError ? error.code : error;
  }
}

test('signs RFC 8032 test 2', () => {
  const key = createSigningKey(SEED);
  expect(Buffer.from(key.publicKey).toString('hex')).toBe(
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
  );
  expect(Buffer.from(key.sign(Uint8Array.of(0x72))).toString('hex')).toBe(
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  );
  expect(key.kid).toBe(thumbprint(key.publicKey));
});

test('still signs after its seed was wiped', () => {
  const seed = Uint8Array.from(SEED);
  const key = createSigningKey(seed);
  const before = key.sign(Uint8Array.of(1));
  seed.fill(0);
  expect(key.sign(Uint8Array.of(1))).toEqual(before);
});

test('never reveals its seed', () => {
  const key = createSigningKey(SEED);
  const shown = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key) + String(key);
  for (const secret of [
    SEED.toString('hex'),
    SEED.toString('base64'),
    SEED.toString('base64url'),
    [...SEED].join(', '),
  ]) {
    expect(shown).not.toContain(secret);
  }
});

test('is made from exactly 32 bytes', () => {
  expect(thrown(() => createSigningKey(SEED.subarray(1)))).toBe('key_length');
  expect(thrown(() => createSigningKey(new Uint8Array(33)))).toBe('key_length');
});

test('the self-test passes the right pair', () => {
  const key = createSigningKey(SEED);
  expect(thrown(() => selfTest(key, key.publicKey))).toBeUndefined();
});

test('the self-test refuses a published key that belongs to another seed', () => {
  const other = createSigningKey(new Uint8Array(32));
  expect(thrown(() => selfTest(createSigningKey(SEED), other.publicKey))).toBe('key_pair_mismatch');
});

test('the self-test refuses a signing key whose signatures are wrong', () => {
  const key = createSigningKey(SEED);
  const faulty: SigningKey = {
    ...key,
    sign: (input) => key.sign(input).map((byte, index) => (index === 40 ? byte ^ 1 : byte)),
  };
  expect(thrown(() => selfTest(faulty, key.publicKey))).toBe('key_pair_mismatch');
});

test('the self-test refuses a published key that no verifier would admit', () => {
  expect(thrown(() => selfTest(createSigningKey(SEED), new Uint8Array(32)))).toBe('key_small_order');
});

// SPEC.md S4.
test('nonces are in their alphabet and do not repeat', () => {
  const nonces = Array.from({ length: 10_000 }, createNonce);
  expect(nonces.filter((nonce) => !isNonce(nonce))).toEqual([]);
  expect(new Set(nonces).size).toBe(nonces.length);
});
