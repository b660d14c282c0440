import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ori/runtime/config';
import { afterAll, expect, test } from 'vitest';
import { loadSignerConfig } from './config.ts';

const least = {
  SIGNER_DATABASE_URL: 'postgres://signer@db.test/ori',
  SIGNER_REDIS_URL: 'redis://redis.test',
  SIGNER_ISSUER: 'https://issuer.test',
  SIGNER_AUDIENCE: 'https://api.test/v1',
  SIGNER_KEK_FILE: '/run/secrets/kek.json',
  SIGNER_AUDIT_FILE: '/var/log/audit.jsonl',
};

const folder = mkdtempSync(join(tmpdir(), 'ori-signer-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const HTTP = { issuer: 'http://issuer.test' };

function problems(env: Record<string, string>): readonly string[] {
  try {
    loadSignerConfig({ ...least, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
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
    trustGateway: false,
  });
  for (const name of Object.keys(least)) expect(problems({ [name]: '' }).join()).toContain(name);
});

test.each([
  ['SIGNER_DATABASE_URL', { SIGNER_DATABASE_URL: 'postgres://signer@db:port/ori' }],
  ['SIGNER_DATABASE_URL', { SIGNER_DATABASE_URL: 'postgres://signer@db-a,db-b/ori' }],
  ['SIGNER_AUDIENCE', { SIGNER_AUDIENCE: 'ori-api' }],
  ['SIGNER_AUDIENCE', { SIGNER_AUDIENCE: 'xhttps://api.test/v1' }],
  ['SIGNER_BASE_URL', { SIGNER_BASE_URL: 'https://api.test/v1/' }],
  ['SIGNER_BASE_URL', { SIGNER_BASE_URL: 'https://api.test/v2' }],
  ['SIGNER_ISSUER:', { SIGNER_ISSUER: HTTP.issuer }],
  ['SIGNER_REDIS_URL', { SIGNER_REDIS_URL: 'http://redis.test' }],
  ['SIGNER_INTROSPECTION_CLIENT_SECRET', { SIGNER_INTROSPECTION_CLIENT_ID: 'ori-signer' }],
  ['SIGNER_PROOF_MAX_AGE_SECONDS', { SIGNER_PROOF_MAX_AGE_SECONDS: '10m' }],
  ['SIGNER_PROOF_MAX_AGE_SECONDS', { SIGNER_PROOF_MAX_AGE_SECONDS: '601' }],
  ['SIGNER_TURNS_PER_USERS', { SIGNER_TURNS_PER_USERS: '60' }],
  ['SIGNER_REGIONAL_HOSTS', { SIGNER_REGIONAL_HOSTS: 'EU.api.test' }],
])('refuses %s with the value %j', (name, env) => {
  expect(problems(env)).toEqual([expect.stringContaining(name)]);
});

test.each([
  [{ SIGNER_BASE_URL: 'http://127.0.0.1:8091/v1' }, [8091, 9091]],
  [{ SIGNER_BASE_URL: 'http://localhost:65535/v1' }, [65_535, 64_535]],
  [{ SIGNER_BASE_URL: 'http://127.0.0.1:8091/v1', SIGNER_PORT: '0', SIGNER_OPS_PORT: '1' }, [0, 1]],
  [{ SIGNER_BASE_URL: 'http://127.0.0.1:8091/v1', SIGNER_TRUST_GATEWAY: 'true' }, [8081, 9081]],
  [{ SIGNER_BASE_URL: 'http://127.0.0.1/v1' }, [8081, 9081]],
  [{ SIGNER_BASE_URL: 'https://api.test:8091/v1' }, [8081, 9081]],
])('the ports with %j are %j', (env, ports) => {
  const { port, opsPort } = loadSignerConfig({ ...least, ...env });
  expect([port, opsPort]).toEqual(ports);
});

test('an http issuer must be on loopback', () => {
  for (const host of ['127.0.0.1:9000', '127.0.0.100', 'localhost', '[::1]'])
    expect(problems({ SIGNER_ISSUER: `http://${host}` })).toEqual([]);
  for (const host of ['127.0.0.1.test', 'a.localhost', 'localhost.test'])
    expect(problems({ SIGNER_ISSUER: `http://${host}` })).toHaveLength(1);
});

test('the base address is the audience, and the audience the base address, unless both are set', () => {
  const [audience, base] = ['ori-api', 'http://127.0.0.1:8081/v1'];
  const file = join(folder, 'plain.json');
  writeFileSync(file, JSON.stringify({ issuers: [{ issuer: 'https://issuer.test' }] }));
  const settings = (env: object) => {
    const { baseUrl, issuers } = loadSignerConfig({ ...least, ...env });
    return [baseUrl, issuers[0]?.audience];
  };
  for (const how of [{}, { SIGNER_ISSUER: '', SIGNER_ISSUERS_FILE: file }]) {
    expect(settings(how)).toEqual([least.SIGNER_AUDIENCE, least.SIGNER_AUDIENCE]);
    expect(settings({ ...how, SIGNER_AUDIENCE: '', SIGNER_BASE_URL: base })).toEqual([base, base]);
    expect(settings({ ...how, SIGNER_AUDIENCE: audience, SIGNER_BASE_URL: base })).toEqual([base, audience]);
  }
});

test('the issuer of the environment has its client for introspection, and the sign-in of ori', () => {
  const client = { SIGNER_INTROSPECTION_CLIENT_ID: 'ori', SIGNER_INTROSPECTION_CLIENT_SECRET: 'secret' };
  const signIn = { clientId: 'ori-cli', scopes: ['vault:read', 'interns'], resource: true, consent: true };
  expect(loadSignerConfig(least).issuers).toMatchObject([{ introspection: undefined, signIn }]);
  expect(loadSignerConfig({ ...least, ...client }).issuers).toMatchObject([
    { introspection: { clientId: 'ori', authMethod: 'client_secret_basic', tokenPrefix: '' }, signIn },
  ]);
});

test.each<[string, string[], env?: object, entry?: object]>([
  ['an issuer', []],
  ['an http issuer', ['SIGNER_ISSUERS_FILE'], {}, HTTP],
  ['a mistake', ['SIGNER_ISSUERS_FILE'], {}, { clients: [] }],
  [
    'an issuer beside a client of the environment',
    ['SIGNER_INTROSPECTION_CLIENT_ID'],
    { SIGNER_INTROSPECTION_CLIENT_ID: 'ori', SIGNER_INTROSPECTION_CLIENT_SECRET: 'secret' },
  ],
  ['an issuer beside one of the environment', ['SIGNER_ISSUER'], { SIGNER_ISSUER: least.SIGNER_ISSUER }],
])('judges a file of issuers with %s', (_, names, env, entry) => {
  const file = join(folder, 'issuers.json');
  writeFileSync(file, JSON.stringify({ issuers: [{ issuer: 'https://issuer.test', ...entry }] }));
  const found = problems({ SIGNER_ISSUER: '', SIGNER_ISSUERS_FILE: file, ...env });
  expect(found.map((problem) => problem.split(':')[0])).toEqual(names);
});
