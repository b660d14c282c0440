import { expect, test } from 'vitest';
import { createTestSigner } from '../testing/testing.ts';
import { candidatesAt } from './key-set.ts';
import { createLocalKeySet } from './local.ts';

const { jwks } = createTestSigner({ internId: 'int_1' });

test('contains the given keys', () => {
  expect(createLocalKeySet(jwks).current()).toHaveLength(1);
});

test('tries the first three keys that are valid at a time', async () => {
  const [expired, ...others] = Array.from(
    { length: 5 },
    () => createTestSigner({ internId: 'int_1' }).jwks.keys[0],
  );
  const keys = await createLocalKeySet({ keys: [{ ...expired, exp: 1 }, ...others] }).current();
  expect(candidatesAt(keys, 2)).toEqual(keys.slice(1, 4));
});

test.each([
  ['nothing', undefined],
  ['no set', []],
  ['an empty set', { keys: [] }],
  ['a set without an Ed25519 key', { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] }],
  [
    'a set with one key that cannot be admitted',
    { keys: [...jwks.keys, { ...jwks.keys[0], x: `${'A'.repeat(42)}E` }] },
  ],
])('refuses %s', (_name, set) => {
  expect(() => createLocalKeySet(set)).toThrow(TypeError);
});
