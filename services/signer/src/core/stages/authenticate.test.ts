import { TOKEN_CLOCK_TOLERANCE_SECONDS } from '@ori/identity/access-token';
import { expect, test } from 'vitest';
import { callerOf, codeOf, NOW, TOKEN } from './stages.fixture.ts';

test('a token is accepted up to the last second of the tolerance for clocks', () => {
  const until = (expiresAt: number) => callerOf({ token: { ...TOKEN, expiresAt } });
  expect(until(NOW - TOKEN_CLOCK_TOLERANCE_SECONDS + 1).session).toMatchObject({ subject: TOKEN.subject });
  expect(codeOf(() => until(NOW - TOKEN_CLOCK_TOLERANCE_SECONDS))).toBe('bearer_refused');
});
