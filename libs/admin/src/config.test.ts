import { readFileSync } from 'node:fs';
import { ConfigError } from '@ori/runtime/config';
import { renderConfigTable } from '@ori/runtime/config-table';
import { expect, test } from 'vitest';
import { ADMIN_SPEC, loadAdminConfig } from './config.ts';

const whole = {
  ORI_ADMIN_DATABASE_URL: 'postgres://owner:hidden@db.test/ori',
  ORI_ADMIN_SIGNER_KEK_FILE: '/run/secrets/kek.json',
  ORI_ADMIN_ISSUER: 'https://issuer.test',
  ORI_ADMIN_BASE_URL: 'https://api.test/v1',
};
const ALL = ['databaseUrl', 'signerKekFile', 'issuer', 'baseUrl'] as const;

function complaints(env: Record<string, string>, needed: readonly (typeof ALL)[number][] = ALL) {
  try {
    loadAdminConfig(env, needed);
  } catch (error) {
    if (error instanceof ConfigError) return error.complaints;
    throw error;
  }
  return [];
}

test('demands what a command needs, all of it at once, and nothing else', () => {
  expect(complaints({})).toHaveLength(4);
  expect(complaints({}, ['issuer'])).toEqual([expect.stringContaining('ORI_ADMIN_ISSUER')]);
  expect(complaints({ ORI_ADMIN_DATABASE_URL_FILE: '/absent' }, [])).toEqual([]);
  expect(complaints(whole)).toEqual([]);
});

test.each([
  ['ORI_ADMIN_DATABASE_URL', 'https://owner:hidden@db.test/ori'],
  ['ORI_ADMIN_DATABASE_URL', 'postgres://owner:hidden@[/ori'],
  ['ORI_ADMIN_BASE_URL', 'https://api.test/v1/'],
  ['ORI_ADMIN_BASE_URL', 'https://api.test'],
  ['ORI_ADMIN_ISSUER', 'issuer.test'],
  ['ORI_ADMIN_KEK', 'x'],
])('complains about %s when given %s, and quotes no password', (name, value) => {
  const all = complaints({ ...whole, [name]: value });
  expect(all).toEqual([expect.stringContaining(name)]);
  expect(all.join()).not.toContain('hidden');
});

test('the README holds the table of the environment as the code has it', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  // Aligned columns are the same table.
  const unaligned = (text: string) => text.replace(/[ -]+/g, '');
  expect(unaligned(readme)).toContain(unaligned(renderConfigTable('ORI_ADMIN', ADMIN_SPEC)));
});
