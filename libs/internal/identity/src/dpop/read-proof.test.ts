import { createDpopKey, encode } from '@ori/test-env/dpop';
import { describe, expect, test } from 'vitest';
import { readClaims, readHeader, splitProof } from './read-proof.ts';

const REFUSED = expect.objectContaining({ name: 'DpopError', code: 'dpop_proof_refused' });

test.each([
  ['a proof', ['a.b.c'], true],
  ['a proof of the greatest length', [`a.b.${'c'.repeat(4092)}`], true],
  ['a proof of one character more', [`a.b.${'c'.repeat(4093)}`], false],
  ['no proof', [], false],
  ['two proofs', ['a.b.c', 'a.b.c'], false],
  ['no header', ['.b.c'], false],
  ['no claims', ['a..c'], false],
  ['two parts', ['a.b'], false],
  ['four parts', ['a.b.c.d'], false],
])('splits %s into its parts, or refuses it', (_, values, isTaken) => {
  if (isTaken) expect(splitProof(values)).toEqual({ jwt: values[0], header: 'a', claims: 'b' });
  else expect(() => splitProof(values)).toThrow(REFUSED);
});

describe('a header', async () => {
  const { publicJwk } = await createDpopKey('ES256');
  const honest = { typ: 'dpop+jwt', alg: 'ES256', jwk: publicJwk };

  test('of an honest proof is read', () => {
    expect(readHeader(encode(honest))).toMatchObject({ alg: 'ES256', jwk: { kty: 'EC' } });
  });

  test.each([
    ['another type', { typ: 'JWT' }],
    ['an algorithm with a shared secret', { alg: 'HS256' }],
    ['critical extensions', { crit: ['exp'] }],
    ['a payload that is not encoded', { b64: false }],
    ['no key', { jwk: undefined }],
    ['a private key', { jwk: { ...publicJwk, d: 'x' } }],
  ])('with %s is refused', (_, changes) => {
    expect(() => readHeader(encode({ ...honest, ...changes }))).toThrow(REFUSED);
  });
});

describe('claims', () => {
  const honest = { jti: 'a', htm: 'GET', htu: 'https://api.test/', iat: 1_789_000_000 };

  test.each([
    ['no more than needed', {}],
    ['the longest jti', { jti: 'x'.repeat(128) }],
    ['the first second of all', { iat: 0 }],
    ['times and a nonce', { exp: 1, nbf: 0.5, nonce: 'n' }],
  ])('with %s are read', (_, changes) => {
    expect(readClaims(encode({ ...honest, ...changes }))).toMatchObject({ ...honest, ...changes });
  });

  test.each([
    ['a time beyond all numbers', JSON.stringify(honest).replace(/"iat":\d+/, '"iat":1e999')],
    ['bytes that are no UTF-8', Buffer.from(JSON.stringify({ ...honest, jti: 'é' }), 'latin1')],
    ['a longer jti', JSON.stringify({ ...honest, jti: 'x'.repeat(129) })],
    ['an address that is no text', JSON.stringify({ ...honest, htu: 1 })],
    ['a nonce that is no text', JSON.stringify({ ...honest, nonce: 1 })],
    ['null in their place', 'null'],
    ['a list in their place', '[]'],
    ['no JSON in their place', 'jti'],
  ])('with %s are refused', (_, claims) => {
    expect(() => readClaims(Buffer.from(claims).toString('base64url'))).toThrow(REFUSED);
  });
});
