import { BodyError } from '@ori/http/body';
import { DeadlineError } from '@ori/http/deadline';
import { expect, it } from 'vitest';
import { present } from './log-app.ts';

it.each([
  ['a body that is too large', new BodyError('body_too_large', ''), 413],
  ['a body that broke off', new BodyError('body_aborted', ''), 400],
  ['a deadline that has passed', new DeadlineError(5), 408],
  ['anything else', new Error('of the disk'), 500],
])('answers %s with its status', (_what, error, status) => {
  expect(present(error)).toMatchObject({ status });
});
