import { expect, test } from 'vitest';
import { checkHost } from './check-host.ts';
import { codeOf } from './stages.fixture.ts';

const regional = new Set(['eu.api.test']);

test.each([
  'eu.api.test',
  'EU.API.TEST',
  'eu.api.test:443',
  'eu.api.test.',
  'eu.api.test.:443',
  'eu.api.test:',
])('refuses %s', (authority) => {
  expect(codeOf(() => checkHost(authority, regional))).toBe('regional_host_refused');
});

test.each(['api.test', 'xeu.api.test', 'eu.api.test.example', '[::1]:80', '', undefined])(
  'lets %s pass',
  (authority) => {
    expect(() => checkHost(authority, regional)).not.toThrow();
  },
);
