import { expect, it } from 'vitest';
import { onlyValueOf, valuesOf } from './raw-headers.ts';

it('returns every value of a header, whatever the case of its name, and no value of another', () => {
  const rawHeaders = [
    'Authorization',
    'one',
    'X',
    'authorization',
    'AUTHORIZATION',
    'two',
    'x_authorization',
    'three',
  ];
  expect(valuesOf({ rawHeaders }, 'authorization')).toEqual(['one', 'two']);
  expect(valuesOf({ rawHeaders }, 'cookie')).toEqual([]);
  expect(['authorization', 'x', 'cookie'].map((name) => onlyValueOf({ rawHeaders }, name))).toEqual([
    undefined,
    'authorization',
    undefined,
  ]);
});
