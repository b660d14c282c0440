import { ConfigError } from '@ori/runtime/config';
import { expectInReadme } from '@ori/test-env/config-table';
import { expect, test } from 'vitest';
import { loadSignerConfig, SIGNER_SPEC } from './config.ts';

const least = {
  SIGNER_DATABASE_URL: 'postgres://signer@db.test/ori',
  SIGNER_REDIS_URL: 'redis://redis.test',
  SIGNER_ISSUER: 'https://issuer.test',
  SIGNER_AUDIENCE: 'https://api.test/v1',
  SIGNER_KEK_FILE: '/run/secrets/kek.json',
  SIGNER_AUDIT_FILE: '/var/log/audit.jsonl',
};

function complaints(env: Record<string, string>): readonly string[] {
  try {
    loadSignerConfig({ ...least, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.complaints;
    throw error;
  }
  return [];
}

test('requires six settings and has a default for every other one', () => {
  expect(loadSignerConfig(least)).toMatchObject({
    baseUrl: 'https://api.test/v1',
    turnsPerUser: 60,
    turnsPerOrganization: 600,
    turnWindowSeconds: 60,
    deadlineMs: 5000,
    trustGateway: false,
  });
  for (const name of Object.keys(least)) expect(complaints({ [name]: '' }).join()).toContain(name);
});

test.each([
  ['SIGNER_DATABASE_URL', { SIGNER_DATABASE_URL: 'postgres://signer@db:port/ori' }],
  ['SIGNER_DATABASE_URL', { SIGNER_DATABASE_URL: 'postgres://signer@db-a,db-b/ori' }],
  ['SIGNER_BASE_URL', { SIGNER_AUDIENCE: 'ori-api' }],
  ['SIGNER_BASE_URL', { SIGNER_BASE_URL: 'https://api.test/v1/' }],
  ['SIGNER_BASE_URL', { SIGNER_BASE_URL: 'https://api.test/v2' }],
  ['SIGNER_ISSUER', { SIGNER_ISSUER: 'http://issuer.test' }],
  ['SIGNER_REDIS_URL', { SIGNER_REDIS_URL: 'http://redis.test' }],
  ['SIGNER_INTROSPECTION_CLIENT_SECRET', { SIGNER_INTROSPECTION_CLIENT_ID: 'ori-signer' }],
  ['SIGNER_PROOF_MAX_AGE_SECONDS', { SIGNER_PROOF_MAX_AGE_SECONDS: '10m' }],
  ['SIGNER_PROOF_MAX_AGE_SECONDS', { SIGNER_PROOF_MAX_AGE_SECONDS: '601' }],
  ['SIGNER_TURNS_PER_USERS', { SIGNER_TURNS_PER_USERS: '60' }],
  ['SIGNER_REGIONAL_HOSTS', { SIGNER_REGIONAL_HOSTS: 'EU.api.test' }],
])('refuses %s with the value %j', (name, env) => {
  expect(complaints(env)).toEqual([expect.stringContaining(name)]);
});

test('an http issuer beyond loopback needs an explicit setting', () => {
  const env = { SIGNER_ISSUER: 'http://issuer.test', SIGNER_ISSUER_ALLOW_PLAIN_HTTP: 'true' };
  expect(complaints(env)).toEqual([]);
  expect(complaints({ SIGNER_ISSUER: 'http://127.0.0.1:9000' })).toEqual([]);
});

test('the README has the same table of settings as the code', () => {
  expectInReadme(import.meta, 'SIGNER', SIGNER_SPEC);
});
