import { expect, it } from 'vitest';
import { CliError } from '../core/errors.ts';
import { recordOf } from './failure-record.ts';

it.each([
  [undefined, 'Sign in again: ori login'],
  ['work', 'Sign in again: ori --profile work login'],
])('advises to sign in to the profile in use: %s', (profile, next) => {
  expect(recordOf(new CliError('session_ended', {}), profile).next).toBe(next);
});
