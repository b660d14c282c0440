import { expect, test } from 'vitest';
import { KeyError } from './errors.ts';
import { parseJwkSet } from './read-jwk-set.ts';
import { createRootedSetReader } from './rooted-set.ts';
import { sets } from './rooted-sets.fixture.ts';
import { delegationInput, keyStatementInput, setStatementInput } from './statements.ts';

test.each(sets)('$title', ({ baseUrl, internId, roots, answers }) => {
  const read = createRootedSetReader({ roots: parseJwkSet({ keys: roots }), baseUrl, internId });
  for (const { bodyBase64, statement = null, now, expect: code, or, until } of answers) {
    const body = bodyBase64 === undefined ? undefined : Buffer.from(bodyBase64, 'base64');
    const judge = () => {
      try {
        return { verdict: 'ok', until: read({ body, statement, now }).until };
      } catch (error) {
        if (!(error instanceof KeyError)) throw error;
        return { verdict: error.code, until: undefined };
      }
    };
    expect(judge()).toEqual({ verdict: or ?? code, until });
  }
});

test('keeps the same list of keys while the document is the same', () => {
  const [{ baseUrl, internId, roots, answers } = expect.fail()] = sets;
  const read = createRootedSetReader({ roots: parseJwkSet({ keys: roots }), baseUrl, internId });
  const [{ bodyBase64 = '', statement = '', now } = expect.fail()] = answers;
  const body = Buffer.from(bodyBase64, 'base64');
  expect(read({ body, statement, now }).keys).toBe(read({ body, statement, now }).keys);
});

const baseUrl = 'https://ori.example/v1';
const internId = 'int_1';
const publicKey = new Uint8Array(32);
const sha256 = '0'.repeat(64);

test.each([-1, 0.5, Number.NaN, 1e15])('states no set of the time %d', (at) => {
  expect(() => setStatementInput({ baseUrl, internId, at, sha256 })).toThrow(TypeError);
});

test.each([0, 999_999_999_999_999])('states a set of the time %d', (at) => {
  expect(setStatementInput({ baseUrl, internId, at, sha256 }).length).toBeGreaterThan(64);
});

test.each([
  { internId: 'a b' },
  { baseUrl: '' },
  { baseUrl: 'https://ori.example/ v1' },
  { baseUrl: 'x'.repeat(2049) },
  { sha256: 'A'.repeat(64) },
])('states no set with %j', (change) => {
  expect(() => setStatementInput({ baseUrl, internId, at: 1, sha256, ...change })).toThrow(TypeError);
});

test.each([-1, 0.5])('states no key and delegates no role from %d on', (notBefore) => {
  const times = { baseUrl, publicKey, notBefore, expiresAt: 5 };
  expect(() => keyStatementInput({ ...times, internId })).toThrow(TypeError);
  expect(() => delegationInput({ ...times, role: 'keys' })).toThrow(TypeError);
});

test('a key statement without an end is not one that ends', () => {
  const statement = { baseUrl, internId, publicKey, notBefore: 1 };
  const ends = [null, 0, 5].map((expiresAt) => String(keyStatementInput({ ...statement, expiresAt })));
  expect(new Set(ends).size).toBe(3);
});
