import { expect, test } from 'vitest';
import { requireHolder } from './require-holder.ts';
import { requireScope } from './require-scope.ts';
import { callerOf, codeOf, grantOf } from './stages.fixture.ts';

test('accepts a grant with vault:read, whatever else it contains', () => {
  expect(grantOf({ scopes: ['interns', 'vault:read'] }).session.subject).toBe('user_2abc');
});

test.each([[[]], [['interns']], [['vault:read:all']], [['VAULT:READ']], [['vault', 'read']]])(
  'refuses the scopes %j',
  (scopes) => {
    expect(codeOf(() => grantOf({ scopes }))).toBe('insufficient_scope');
  },
);

test('refuses an API key, which identifies no person', () => {
  const caller = callerOf({ apiKey: { kind: 'api', disabled: false } });
  expect(codeOf(() => requireScope(requireHolder(caller, undefined, true)))).toBe(
    'personal_identity_required',
  );
});
