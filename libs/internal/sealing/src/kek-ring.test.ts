import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  extendKekRing,
  generateKekRing,
  promoteKek,
  removeKek,
  unwrapKekRing,
  wrapKekRing,
} from './change-kek-ring.ts';
import { type KekOwner, kidOf } from './kek-ring.ts';
import { openKekRing, parseKekRing } from './kek-ring-text.ts';
import type { KeyWrapper } from './key-wrapper.ts';
import { SealingError } from './sealing-error.ts';

const K = 'c2VjcmV0LWNhbmFyeS1rZXktbWF0ZXJpYWwtMzJieXQ';
const key = { kty: 'oct', kid: kidOf('signer', Buffer.from(K, 'base64url')), k: K };

function refusal(text: string, owner?: KekOwner): SealingError {
  try {
    parseKekRing(text, owner);
  } catch (error) {
    if (error instanceof SealingError) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('a KEK ring', () => {
  it('seals with its first key and opens with every key', () => {
    const other = Buffer.from(K.replace('c', 'd'), 'base64url');
    const kid = kidOf('signer', other);
    const ring = parseKekRing(
      JSON.stringify({ keys: [key, { ...key, kid, k: other.toString('base64url') }] }),
    );
    expect(ring.primary.kid).toBe(key.kid);
    expect(ring.kids).toEqual([key.kid, kid]);
    expect(ring.key(kid)?.export().equals(other)).toBe(true);
    expect(ring.key('signer-0000000000000000')).toBeUndefined();
  });

  it('is generated with 256 random bits and a new kid each time', () => {
    const [one, other] = [parseKekRing(generateKekRing('signer')), parseKekRing(generateKekRing('signer'))];
    expect(one.primary.key.symmetricKeySize).toBe(32);
    expect(one.primary.kid).not.toBe(other.primary.kid);
    expect(one.primary.key.equals(other.primary.key)).toBe(false);
  });

  it('of one service is refused by the other, and so is its key under another kid', () => {
    const signer = generateKekRing('signer');
    expect(parseKekRing(signer, 'signer').primary.kid).toMatch(/^signer-/);
    const { problems } = refusal(signer, 'management');
    expect(problems).toEqual(['keys[0].kid: belongs to the ring of the signer service']);
    const [{ k }] = JSON.parse(signer).keys;
    const { kid } = parseKekRing(generateKekRing('management')).primary;
    const renamed = JSON.stringify({ keys: [{ kty: 'oct', kid, k }] });
    expect(refusal(renamed, 'management').problems).toEqual(['keys[0].kid: does not match the key']);
  });

  it('gets a key at the end, promotes it, and drops the former one', () => {
    const extended = extendKekRing(generateKekRing('signer'), 'signer');
    const [former = '', kid = ''] = parseKekRing(extended).kids;
    const promoted = promoteKek(extended, 'signer', kid);
    expect(parseKekRing(promoted).kids).toEqual([kid, former]);
    expect(parseKekRing(removeKek(promoted, 'signer', former), 'signer').kids).toEqual([kid]);
    expect(() => extendKekRing(extended, 'management')).toThrow(SealingError);
  });

  it('prints no key material, however it is printed', () => {
    const ring = parseKekRing(JSON.stringify({ keys: [key] }));
    for (const shown of [
      inspect(ring, { depth: 10, showHidden: true }),
      JSON.stringify(ring),
      String(ring),
    ]) {
      expect(shown).not.toContain(K);
      expect(shown).not.toContain(Buffer.from(K, 'base64url').toString('hex'));
    }
    expect(JSON.stringify(ring)).toBe(`{"kids":["${key.kid}"]}`);
  });

  it.each<[string, unknown, RegExp]>([
    ['no key', { keys: [] }, /^keys: expected at least one key$/],
    ['not an array', { keys: { 0: key } }, /^keys: expected an array/],
    ['an empty array', {}, /^keys: expected an array/],
    ['a key of 128 bits', { keys: [{ ...key, k: K.slice(0, 22) }] }, /^keys\[0\]\.k: expected 256 bits/],
    [
      'a key of 264 bits',
      { keys: [{ ...key, k: `${K.slice(0, 43)}A` }] },
      /^keys\[0\]\.k: expected 256 bits/,
    ],
    [
      'base64 instead of base64url',
      { keys: [{ ...key, k: K.replace('c', '+') }] },
      /^keys\[0\]\.k: expected 256/,
    ],
    [
      'a second spelling of the same bytes',
      { keys: [{ ...key, k: `${K.slice(0, 42)}R` }] },
      /^keys\[0\]\.k: expected/,
    ],
    ['a key of zeros', { keys: [{ ...key, k: 'A'.repeat(43) }] }, /^keys\[0\]\.kid: does not match the key$/],
    [
      'a kid of its own making',
      { keys: [{ ...key, kid: 'kek-1' }] },
      /^keys\[0\]\.kid: expected one made by/,
    ],
    ['a key of no bytes', { keys: [{ kty: 'oct', kid: key.kid }] }, /^keys\[0\]\.k: expected 256 bits/],
    ['a key in two forms', { keys: [{ ...key, wrapped: 'x' }] }, /^keys\[0\]\.k: expected 256 bits/],
    ['a key without kid', { keys: [{ kty: 'oct', k: K }] }, /^keys\[0\]\.kid: expected a string$/],
    ['two keys of one kid', { keys: [key, key] }, /^keys\[1\]\.kid: expected a kid that no other key has$/],
    ['a key of another kind', { keys: [{ ...key, kty: 'OKP' }] }, /^keys\[0\]\.kty: expected "oct"$/],
    [
      'a key for another algorithm',
      { keys: [{ ...key, alg: 'A128KW' }] },
      /^keys\[0\]\.alg: expected "A256GCMKW"/,
    ],
    ['a key to sign with', { keys: [{ ...key, use: 'sig' }] }, /^keys\[0\]\.use: expected "enc"/],
    ['an unknown member', { keys: [{ ...key, [K]: K }] }, /^keys\[0\]: has an unknown member$/],
    ['an array', [key], /^ring: /],
    ['too many keys', { keys: Array.from({ length: 17 }, () => key) }, /^keys: expected at most/],
  ])('is refused with %s, naming the place without quoting the value', (_what, value, problem) => {
    const error = refusal(JSON.stringify(value));
    expect(error).toMatchObject({ name: 'SealingError', code: 'invalid_kek_ring' });
    expect(error.problems).toEqual([expect.stringMatching(problem)]);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(K.slice(0, 20));
  });

  it('is refused with all errors together', () => {
    const error = refusal(JSON.stringify({ keys: [{ kty: 'RSA', kid: '', k: 'x' }], more: 1 }));
    expect(error.problems).toHaveLength(4);
  });

  it('that is not JSON is refused without being quoted', () => {
    const error = refusal(`${K} is not JSON`);
    expect(error.problems).toEqual(['ring: expected JSON']);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(K.slice(0, 8));
    expect(error.cause).toBeUndefined();
  });
});

it('takes of a KMS only the key that was wrapped, of 256 bits', async () => {
  const open = (named: Buffer, unwrapped: Buffer) => {
    const key = { kty: 'oct', kid: kidOf('signer', named), wrapped: 'wrapped' };
    const kms: KeyWrapper = {
      wrap: async () => expect.unreachable(),
      unwrap: async () => Buffer.from(unwrapped),
    };
    return openKekRing(JSON.stringify({ keys: [key] }), 'signer', kms);
  };
  const [kek, other, short] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(16, 1)];
  expect((await open(kek, kek)).kids).toEqual([kidOf('signer', kek)]);
  const problems = ['keys[0].kid: does not match the key'];
  await expect(open(kek, other)).rejects.toMatchObject({ code: 'invalid_kek_ring', problems });
  await expect(open(short, short)).rejects.toMatchObject({ code: 'invalid_kek_ring', problems });
});

it('wraps only keys that are in plain, and unwraps only wrapped ones', async () => {
  const kms: KeyWrapper = {
    wrap: async (kek) => Buffer.from(kek).toString('base64'),
    unwrap: async (text) => Buffer.from(text, 'base64'),
  };
  const plain = generateKekRing('signer');
  const wrapped = await wrapKekRing(plain, kms);
  const keysOf = (text: string) => JSON.parse(text).keys;
  expect(keysOf(await wrapKekRing(wrapped, kms))).toEqual(keysOf(wrapped));
  expect(keysOf(await unwrapKekRing(wrapped, kms))).toEqual(keysOf(plain));
  expect(keysOf(await unwrapKekRing(plain, kms))).toEqual(keysOf(plain));
});
