import { expect, test } from 'vitest';
import { explainFailure } from './explain-failure.ts';

const coded = (code: string, message = 'hidden.internal:5432', cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });

test.each<[string, unknown, string]>([
  ['a refused connection', coded('ECONNREFUSED'), 'nothing listens there'],
  ['of several addresses', new AggregateError([coded('ECONNREFUSED')]), 'nothing listens there'],
  ['an unknown host', coded('unreachable', 'x', coded('ENOTFOUND')), 'there is no such host'],
  [
    'a private CA',
    new TypeError('fetch failed', { cause: coded('SELF_SIGNED_CERT_IN_CHAIN') }),
    'NODE_EXTRA_CA_CERTS',
  ],
  ['a missing database', coded('refused', 'x', coded('3D000')), 'no such database'],
  ['a wrong password', coded('refused', 'x', coded('28P01')), 'password'],
  ['a pooler that pools transactions', coded('refused', 'x', coded('42P05')), 'max_prepared_statements'],
  ['a query that is on another connection of a pooler', coded('refused', 'x', coded('26000')), 'PgBouncer'],
  ['a setting that a pooler refuses', coded('refused', 'x', coded('08P01')), 'see its log'],
  ['a standby', coded('standby'), 'use the primary'],
  ['a cold standby', coded('refused', 'x', coded('57P03')), 'standby'],
  ['a wrong Redis password', new Error('no connection', { cause: new Error('WRONGPASS invalid') }), 'wrong'],
  ['a missing Redis password', new Error('NOAUTH Authentication required.'), 'requires a password'],
  ['a full Redis', new Error("OOM command not allowed when used memory > 'maxmemory'."), 'memory is full'],
  ['a Redis with a full disk', new Error('MISCONF Redis is configured to save RDB snapshots'), 'its disk'],
  ['a Redis without replicas', new Error('NOREPLICAS Not enough good replicas to write.'), 'replicas'],
  ['a full disk', coded('53100'), 'disk of the server is full'],
  ['a time-out', Object.assign(new Error('x'), { name: 'TimeoutError' }), 'in time'],
])('%s is explained without its address', (_what, error, expected) => {
  expect(explainFailure(error)).toContain(expected);
  expect(explainFailure(error)).not.toContain('hidden.internal');
});

test('an unknown failure is not explained, because its message may contain anything', () => {
  expect(explainFailure(new Error('postgres://signer:secret@db.internal'))).toBeUndefined();
  expect(explainFailure('text')).toBeUndefined();
});
