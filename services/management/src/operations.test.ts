import { expect, test } from 'vitest';
import type { Caller } from './callers/caller.ts';
import { OPERATIONS } from './operations.ts';

/** A member's session with every scope. */
const session: Caller = {
  session: {
    scopes: ['interns', 'vault:read', 'management'],
    authenticatedAt: 1,
    person: {
      userId: 'usr_1',
      disabled: false,
      sessionsValidFrom: null,
      memberships: [{ workspaceId: 'ws_1', inProgramme: true, removed: false }],
    },
  },
};

const isPermitted = (permit: (caller: Caller) => unknown) => {
  try {
    return permit(session) !== undefined;
  } catch {
    return false;
  }
};

test('a session can only read', () => {
  const permitted = OPERATIONS.filter(({ permit }) => isPermitted(permit));
  expect(permitted.map(({ operationId }) => operationId)).toContain('listInterns');
  expect(permitted.filter(({ method }) => method !== 'GET').map(({ operationId }) => operationId)).toEqual(
    [],
  );
});

test('the list and the change of credentials have closed tables of statuses', () => {
  const closed = OPERATIONS.filter(({ isClosed }) => isClosed).map(({ operationId }) => operationId);
  expect(closed).toEqual(['listByokCredentials', 'updateByokCredential']);
});
