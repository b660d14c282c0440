import { expect, it } from 'vitest';
import { explainSystemError, systemErrorCode } from './system-error.ts';

it('finds the reason inside causes and attempts', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(explainSystemError(new TypeError('fetch failed', { cause: refused }))).toBe('nothing listens there');
  expect(explainSystemError(new AggregateError([refused]))).toBe('nothing listens there');
  expect(systemErrorCode(new Error('plain'))).toBeUndefined();
});

it('names a code that it has no words for', () => {
  expect(explainSystemError(Object.assign(new Error('x'), { code: 'ENOBUFS' }))).toBe('ENOBUFS');
  expect(explainSystemError(new Error('words'))).toBe('words');
});
