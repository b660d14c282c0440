import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { expect, test } from 'vitest';
import { OPERATIONS } from './operations.ts';
import { present } from './presentation.ts';

test.each(['unreachable', 'timed_out', 'refused'] as const)(
  'every operation says when to repeat a request for which no connection was free: %s',
  (code) => {
    const late = new StoreUnavailable(code, 'Timed out acquiring a database connection.');
    for (const operation of OPERATIONS)
      expect(present(late, operation).headers, operation.operationId).toEqual({ 'Retry-After': '1' });
  },
);
