import { expect, test } from 'vitest';
import { authenticate } from './authenticate.ts';
import { bearer, codeOf, NOW, TOKEN } from './stages.fixture.ts';

test('accepts a token as a session, and an API key without a session', () => {
  expect(authenticate(bearer, { token: TOKEN }, NOW).session).toBe(TOKEN);
  expect(authenticate(bearer, { apiKey: { kind: 'api', disabled: false } }, NOW).session).toBeUndefined();
});

test.each([
  ['an unknown credential', undefined],
  ['a disabled key', { apiKey: { kind: 'api', disabled: true } }],
  ['a management key', { apiKey: { kind: 'management', disabled: false } }],
  ['cached facts of a token that has expired since', { token: { ...TOKEN, expiresAt: NOW - 2 } }],
] as const)('refuses %s', (_, identity) => {
  expect(codeOf(() => authenticate(bearer, identity, NOW))).toBe('bearer_refused');
});
