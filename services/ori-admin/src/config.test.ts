import { ConfigError } from '@ori/runtime/config';
import { expect, test } from 'vitest';
import { loadAdminConfig } from './config.ts';

const whole = {
  ORI_ADMIN_DATABASE_URL: 'postgres://owner:hidden@db.test/ori',
  ORI_ADMIN_SIGNER_KEK_FILE: '/run/secrets/kek.json',
  ORI_ADMIN_ISSUER: 'https://issuer.test',
  ORI_ADMIN_BASE_URL: 'https://api.test/v1',
};
const ALL = ['databaseUrl', 'signerKekFile', 'issuer', 'baseUrl'] as const;

function problems(env: Record<string, string>, needed: readonly (typeof ALL)[number][] = ALL) {
  try {
    loadAdminConfig(env, needed);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('requires only the settings that a command needs, and reports all missing ones together', () => {
  expect(problems({})).toHaveLength(4);
  expect(problems({}, ['issuer'])).toEqual([expect.stringContaining('ORI_ADMIN_ISSUER')]);
  expect(problems({ ORI_ADMIN_DATABASE_URL_FILE: '/absent' }, [])).toEqual([]);
  expect(problems(whole)).toEqual([]);
});

test.each([
  ['ORI_ADMIN_DATABASE_URL', 'https://owner:hidden@db.test/ori'],
  ['ORI_ADMIN_DATABASE_URL', 'postgres://owner:hidden@[/ori'],
  ['ORI_ADMIN_BASE_URL', 'https://api.test/v1/'],
  ['ORI_ADMIN_BASE_URL', 'https://api.test'],
  ['ORI_ADMIN_ISSUER', 'issuer.test'],
  ['ORI_ADMIN_KEK', 'x'],
])('refuses %s with the value %s, and quotes no password', (name, value) => {
  const all = problems({ ...whole, [name]: value });
  expect(all).toEqual([expect.stringContaining(name)]);
  expect(all.join()).not.toContain('hidden');
});
