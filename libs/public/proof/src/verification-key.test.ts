import { expect, test } from 'vitest';
import { KeyError } from './errors.ts';
import { admitPublicKey } from './public-key.ts';
import { createSigningKey } from './signing.ts';
import { holdsTimestamp } from './verification-key.ts';

const { publicKey } = createSigningKey(new Uint8Array(32).fill(1));

test.each([
  [{}, [true, true, true, true]],
  [{ notBefore: 10 }, [false, true, true, true]],
  [{ expiresAt: 20 }, [true, true, true, false]],
  [{ notBefore: 10, expiresAt: 20 }, [false, true, true, false]],
])('the interval %j is half-open', (interval, held) => {
  const key = admitPublicKey(publicKey, interval);
  expect([9, 10, 19, 20].map((timestamp) => holdsTimestamp(key, timestamp))).toEqual(held);
});

test.each([
  { notBefore: Number.NaN },
  { expiresAt: Number.POSITIVE_INFINITY },
  { notBefore: -1 },
  { notBefore: 5, expiresAt: 5 },
  { notBefore: 6, expiresAt: 5 },
])('the interval %j is refused', (interval) => {
  expect(() => admitPublicKey(publicKey, interval)).toThrow(
    expect.objectContaining({ constructor: KeyError, code: 'key_interval' }),
  );
});

test('a key keeps its own copy of the bytes', () => {
  const bytes = Uint8Array.from(publicKey);
  const key = admitPublicKey(bytes);
  bytes.fill(0);
  expect(key.publicKey).toEqual(publicKey);
});

test('a key is immutable', () => {
  expect(Object.isFrozen(admitPublicKey(publicKey))).toBe(true);
});
