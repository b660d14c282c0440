import { expect, test } from 'vitest';
import { authenticate } from './authenticate.ts';
import { requireHolder } from './require-holder.ts';
import { requireScope } from './require-scope.ts';
import { bearer, codeOf, grantOf, NOW } from './stages.fixture.ts';

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
  const caller = authenticate(bearer, { apiKey: { kind: 'api', disabled: false } }, NOW);
  expect(codeOf(() => requireScope(requireHolder(caller, undefined, true)))).toBe(
    'personal_identity_required',
  );
});
