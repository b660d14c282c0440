import { expect, test } from 'vitest';
import { codeOf, entryOf, grantOf, orderOf, SIGNING_KEY } from './stages.fixture.ts';
import { unlockKey } from './unlock-key.ts';

test('refuses to sign without a usable key', () => {
  expect(codeOf(() => unlockKey(entryOf(), undefined))).toBe('configuration_error');
});

test.each(['a b', 'a,b', '\u00e4', 'x'.repeat(256), 'a\n'])(
  'refuses a subject that cannot be a header value: %j',
  (subject) => {
    const entry = entryOf(orderOf(undefined, grantOf({ subject })));
    expect(codeOf(() => unlockKey(entry, SIGNING_KEY))).toBe('configuration_error');
  },
);
