import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createScanner } from './scanner.ts';

const secret = Buffer.from('ca9a7y-"quoted"/and+more\\than=that§');
const scanner = createScanner({ secret });
const around = (offset: number, after: number) =>
  Buffer.concat([Buffer.alloc(offset, 'x'), secret, Buffer.alloc(after, 'y')]);

const LEAKS: Record<string, string> = {
  'as it is': secret.toString('latin1'),
  'in UTF-8, as a JSON string': JSON.stringify(secret.toString('utf8')),
  percent: encodeURIComponent(secret.toString('utf8')),
  'lower-case hex': secret.toString('hex'),
  'upper-case hex': secret.toString('hex').toUpperCase(),
  'an inspected buffer': inspect(secret),
  'a list of numbers': [...secret].join(', '),
  'a serialised buffer': JSON.stringify(secret),
  'its first half': secret.subarray(0, secret.length / 2).toString('hex'),
  'its second half': secret.subarray(secret.length / 2).toString('base64'),
};
for (const offset of [0, 1, 2, 3, 4, 5]) {
  for (const after of [0, 1, 2]) {
    LEAKS[`base64, ${offset} before, ${after} after`] = around(offset, after).toString('base64');
    LEAKS[`base64url, ${offset} before, ${after} after`] = around(offset, after).toString('base64url');
  }
}

test.each(Object.entries(LEAKS))('finds a secret: %s', (_, leak) => {
  const line = JSON.stringify({ level: 'info', msg: 'a line' }).replace('a line', () => `a ${leak} line`);
  expect(scanner.scan('log', line)).not.toEqual([]);
});

test('finds nothing in text without secrets', () => {
  expect(scanner.scan('log', randomBytes(100_000).toString('base64'))).toEqual([]);
  expect(scanner.scan('log', randomBytes(100_000).toString('hex'))).toEqual([]);
});

test('refuses a canary that could occur by chance', () => {
  expect(() => createScanner({ short: 'abc' })).toThrow();
});
