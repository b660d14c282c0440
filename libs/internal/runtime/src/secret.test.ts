import { format, inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from './secret.ts';

const secret = new Secret('canary');

it('returns its value only from reveal', () => {
  expect(secret.reveal()).toBe('canary');
});

it.each([
  ['String()', String(secret)],
  ['a template', `${secret}`],
  ['concatenation', ['', secret].join('')],
  ['JSON', JSON.stringify({ secret })],
  ['inspect', inspect({ secret }, { depth: 9, showHidden: true })],
  ['format', format('%s %o %j', secret, secret, secret)],
  ['its keys', JSON.stringify(Object.getOwnPropertyNames(secret))],
  ['a copy', JSON.stringify({ ...secret })],
])('is not shown by %s', (_way, shown) => {
  expect(shown).not.toContain('canary');
});

it('is shown as [redacted]', () => {
  expect(JSON.stringify([secret])).toBe('["[redacted]"]');
});
