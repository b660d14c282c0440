import { expect, it } from 'vitest';
import { sessionOfToken } from './given-token.ts';
import { isNameOf, nameGiven, personOf } from './signed-as.ts';

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
const given = (token: string) => sessionOfToken(token, 'https://api.example.com/v1', 0);
/** Of a sign-in: the ID token names the person. */
const signedIn = (token: string) => ({
  ...given(token),
  client_id: 'ori-cli',
  issuer: 'https://issuer.test',
  subject: 'id_of_ada',
});

it.each([
  [signedIn('opaque'), 'id_of_ada', true],
  [signedIn(jwt({ sub: 'ada_at_the_api' })), 'ada_at_the_api', true],
  [given(jwt({ sub: 'ada' })), 'ada', true],
  [signedIn('opaque'), 'grace', false],
  [given(jwt({ sub: 'ada' })), 'grace', false],
  // What stands for a missing subject is nobody's name.
  [given('opaque'), 'unknown', false],
])('knows the names of the person of a session (%#)', (session, user, is) => {
  expect(isNameOf(session, user)).toBe(is);
});

it('expects another claim of the token, anything for an opaque one that was given, and otherwise the subject', () => {
  expect(nameGiven(signedIn(jwt({ sub: 'x', oid: 'oid_of_ada' })), 'oid_of_ada')).toBe('oid_of_ada');
  expect(nameGiven(signedIn(jwt({ sub: 'x', oid: 'oid_of_ada' })), 'grace')).toBe('id_of_ada');
  expect(nameGiven(signedIn('opaque'), 'grace')).toBe('id_of_ada');
  expect(nameGiven(given('opaque'), 'grace')).toBe('grace');
});

it('keeps the names of each person apart', () => {
  expect(new Set([given('opaque'), given('other')].map(personOf)).size).toBe(1);
  expect(personOf(signedIn('opaque'))).toBe('https://issuer.test id_of_ada');
});
