import { mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { ConfigError } from '@ori/runtime/config';
import { MigrationError } from '@ori/store/migrate';
import { AdminError } from '@ori/store/writes/admin-error';
import { expect, test } from 'vitest';
import { tell, UsageError } from './failure.ts';

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each([
  [new UsageError('x'), 2],
  [new ConfigError(['x']), 2],
  [new AdminError('invalid_input', 'x'), 2],
  [new AdminError('not_found', 'x'), 3],
  [new AdminError('conflict', 'x'), 4],
  [new MigrationError('database_not_ours', 'x'), 4],
  [Object.assign(new Error('no such table'), { code: '42P01' }), 4],
  [Object.assign(new Error('permission denied'), { code: '42501' }), 2],
  [new StoreUnavailable('unreachable', 'x'), 6],
  [failureOf(() => readFileSync('/nonexistent/policy')), 2],
  [failureOf(() => mkdirSync('/dev/null/keys')), 2],
  [failureOf(() => readFileSync('/')), 2],
  [failureOf(() => writeSync(openSync('/dev/full', 'w'), 'x')), 2],
])('%s is explained with the next step, and exits with %i', (error, exit) => {
  expect(tell(error)).toMatchObject({ exit, next: expect.stringMatching(/\.$/) });
});

test('of two commands in each other’s way, one is to be repeated, whose address is right', () => {
  expect(tell(new StoreUnavailable('contended', 'x'))).toMatchObject({
    exit: 6,
    next: 'Repeat the command.',
  });
});

test('an unexpected error is reported as a defect', () => {
  expect(tell(new TypeError('x'))).toBeUndefined();
  expect(tell(undefined)).toBeUndefined();
});
