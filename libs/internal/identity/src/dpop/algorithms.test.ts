import { createDpopKey } from '@ori/test-env/dpop';
import { expect, test } from 'vitest';
import { isDpopAlgorithm, publicJwkOf } from './algorithms.ts';

const { publicJwk } = await createDpopKey('ES256');
const x = String(publicJwk.x);

test('takes from a key the members of its thumbprint alone', () => {
  const { kty, crv, y } = publicJwk;
  expect(publicJwkOf('ES256', { ...publicJwk, kid: 'a', use: 'sig' })).toEqual({ kty, crv, x, y });
});

test('an algorithm in a list is none', () => {
  expect([isDpopAlgorithm('ES256'), isDpopAlgorithm(['ES256'])]).toEqual([true, false]);
});

test.each([
  ['null', null],
  ['no object', 'key'],
  ['of another kind', { ...publicJwk, kty: 'OKP' }],
  ['of another curve', { ...publicJwk, crv: 'P-384' }],
  ['without a coordinate', { ...publicJwk, y: undefined }],
  ['with a coordinate in a list', { ...publicJwk, x: [x] }],
])('takes no key that is %s', (_, jwk) => {
  expect(publicJwkOf('ES256', jwk)).toBeUndefined();
});

test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'])(
  'takes no key with the private %s',
  (name) => {
    expect(publicJwkOf('ES256', { ...publicJwk, [name]: x })).toBeUndefined();
  },
);

test.each([
  ['with a character before it', `A${x}`],
  ['with a character after it', `${x}A`],
  ['with padding', `${x}=`],
  ['a character short', x.slice(1)],
  ['whose last character has bits of no byte', `${x.slice(0, -1)}B`],
  ['in standard base64', `+${x.slice(1)}`],
])('takes no coordinate %s, so that a key has one thumbprint', (_, coordinate) => {
  expect(publicJwkOf('ES256', { ...publicJwk, x: coordinate })).toBeUndefined();
});
