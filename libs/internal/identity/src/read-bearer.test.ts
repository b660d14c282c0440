import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { OPAQUE_CHARACTERS_MIN, readBearer } from './read-bearer.ts';

const key = `sk-ori-v1-${'0a'.repeat(32)}`;
const REFUSED = expect.objectContaining({ name: 'IdentityError', code: 'bearer_refused' });
const opaque = 'x'.repeat(OPAQUE_CHARACTERS_MIN);

test.each([
  ['api-key', key],
  ['jwt', 'eyJh.eyJh.c2ln'],
  ['opaque', `${'x'.repeat(8)}.${'x'.repeat(8)}.${'x'.repeat(8)}`],
  ['opaque', 'v4.local.eyJhbGciOiJFUzI1NiJ9'],
  ['opaque', 'eyJhbGciOiJkaXIifQ.a.b.c.dddd'],
  ['opaque', opaque],
  ['jwt', `eyJh.${'x'.repeat(16_000)}.c2ln`],
  ['opaque', 'x'.repeat(8192)],
  ['opaque', `${'A0-._~+/'.repeat(3)}==`],
  ['opaque', 'ory_at_0123456789.0123456789'],
])('recognizes a credential of kind %s by its form', (kind, token) => {
  expect(readBearer([`Bearer ${token}`])).toMatchObject({ kind, token });
});

test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])('accepts the scheme as "%s"', (scheme) => {
  expect(readBearer([`${scheme} ${opaque}`]).token).toBe(opaque);
});

test.each([
  ['Bearer', 'bearer'],
  ['DPoP', 'dpop'],
  ['DPOP', 'dpop'],
])('%s is the scheme %s', (sent, scheme) => {
  expect(readBearer([`${sent} ${opaque}`])).toMatchObject({ scheme, token: opaque });
});

test.each([
  ['nothing', []],
  ['two headers', [`Bearer ${opaque}`, `Bearer ${opaque}`]],
  ['another scheme', [`Basic ${opaque}`]],
  ['no token', ['Bearer ']],
  ['a tab after the scheme', [`Bearer\t${opaque}`]],
  ['a token with a space', [`Bearer ${opaque} x`]],
  ['a token with padding inside', [`Bearer ${opaque}=x`]],
  ['a token with a character beyond ASCII', [`Bearer ${opaque}\u00e4`]],
  ['an opaque token that could be guessed', [`Bearer ${opaque.slice(1)}`]],
  ['an opaque token that is long', [`Bearer ${'x'.repeat(8193)}`]],
  ['an API key of another version', [`Bearer ${key.replace('v1', 'v2')}`]],
  ['an API key behind a prefix', [`Bearer sk-${key}`]],
  ['an API key a digit short', [`Bearer ${key.slice(0, -1)}`]],
  ['an API key a digit long', [`Bearer ${key}0`]],
  ['an API key in capitals', [`Bearer sk-ori-v1-${'0A'.repeat(32)}`]],
  ['a token with a quote', [`Bearer "${opaque}"`]],
  ['three parts of nothing', ['Bearer ..']],
])('refuses %s', (_, authorizations) => {
  expect(() => readBearer(authorizations)).toThrow(REFUSED);
});

test('identifies a credential by its whole SHA-256', () => {
  expect(readBearer([`Bearer ${key}`]).digestHex()).toBe(createHash('sha256').update(key).digest('hex'));
  // RFC 9449, section 7.1, figures 13 and 15.
  const token = readBearer(['DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU']);
  expect(token.digest()).toBe('fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo');
});
