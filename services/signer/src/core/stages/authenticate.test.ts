import { expect, test } from 'vitest';
import { callerOf, codeOf, NOW, TOKEN } from './stages.fixture.ts';

test('accepts a token as a session, and an API key without a session', () => {
  expect(callerOf({ token: TOKEN }).session).toBe(TOKEN);
  expect(callerOf({ apiKey: { kind: 'api', disabled: false } }).session).toBeUndefined();
});

test.each([
  ['an unknown credential', undefined],
  ['a disabled key', { apiKey: { kind: 'api', disabled: true } }],
  ['a management key', { apiKey: { kind: 'management', disabled: false } }],
  ['cached facts of a token that has expired since', { token: { ...TOKEN, expiresAt: NOW - 2 } }],
] as const)('refuses %s', (_, identity) => {
  expect(codeOf(() => callerOf(identity))).toBe('bearer_refused');
});
