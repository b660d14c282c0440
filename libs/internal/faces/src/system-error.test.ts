import { expect, it } from 'vitest';
import { explainSystemError, systemErrorCode } from './system-error.ts';

it('finds the reason in causes and connection attempts', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(explainSystemError(new TypeError('fetch failed', { cause: refused }))).toBe('nothing listens there');
  expect(explainSystemError(new AggregateError([refused]))).toBe('nothing listens there');
  expect(systemErrorCode(new Error('plain'))).toBeUndefined();
});

it('returns the code if it has no description', () => {
  expect(explainSystemError(Object.assign(new Error('x'), { code: 'ENOBUFS' }))).toBe('ENOBUFS');
  const parse = Object.assign(new Error('Parse Error'), { code: 'HPE_CLOSED_CONNECTION' });
  expect(explainSystemError(parse)).toBe(
    'its answer is not valid HTTP, or not one answer (HPE_CLOSED_CONNECTION)',
  );
  expect(explainSystemError(new Error('words'))).toBe('words');
});
