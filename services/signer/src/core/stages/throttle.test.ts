import { expect, test } from 'vitest';
import { SigningError } from './signing-error.ts';
import { draftOf, turnOf, VERDICT } from './stages.fixture.ts';

test('refuses a turn that the limiter refuses, with its verdict for the answer', () => {
  const verdict = { ...VERDICT, allowed: false, remaining: 0, retryAfterSeconds: 7 };
  expect(() => turnOf(draftOf(), verdict)).toThrow(SigningError);
  try {
    turnOf(draftOf(), verdict);
  } catch (error) {
    expect(error).toMatchObject({ code: 'rate_limited', turns: verdict });
  }
});
