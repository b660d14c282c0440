import { readFileSync } from 'node:fs';
import { ConfigError, variableName } from '@ori/runtime/config';
import { expect, it } from 'vitest';
import { LIMITS_SPEC, loadStandaloneConfig, STANDALONE_SPEC } from './config.ts';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadStandaloneConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

it('needs no environment at all', () => {
  expect(loadStandaloneConfig({ PATH: '/bin' })).toEqual({
    host: '127.0.0.1',
    port: 8080,
    redisUrl: undefined,
    databaseUrl: undefined,
    limits: { turnsPerUser: 60, turnsPerOrganization: 600, turnWindowSeconds: 60, regionalHosts: [] },
  });
});

it('reads the limits under the names of the signer', () => {
  const env = {
    SIGNER_TURNS_PER_USER: '3',
    SIGNER_TURN_WINDOW_SECONDS: '5',
    SIGNER_REGIONAL_HOSTS: 'eu.ori.example',
  };
  expect(loadStandaloneConfig(env).limits).toEqual({
    turnsPerUser: 3,
    turnsPerOrganization: 600,
    turnWindowSeconds: 5,
    regionalHosts: ['eu.ori.example'],
  });
});

it.each(['0.0.0.0', '::', '192.168.1.10', 'ori.example', '127.0.0.1.example'])(
  'refuses to listen on %s',
  (host) => {
    expect(problemsOf({ ORI_HOST: host })).toEqual([
      expect.stringMatching(/^ORI_HOST: expected a loopback address/),
    ]);
  },
);

it.each(['127.0.0.1', '::1', 'localhost'])('listens on %s', (host) => {
  expect(loadStandaloneConfig({ ORI_HOST: host }).host).toBe(host);
});

it('reports all errors together, including a setting of the signer that it does not support', () => {
  const problems = problemsOf({
    ORI_HOST: '0.0.0.0',
    ORI_PROT: '1',
    SIGNER_TURNS_PER_USER: 'many',
    SIGNER_PORT: '1',
  });
  expect(problems.map((line) => line.split(':')[0])).toEqual([
    'ORI_HOST',
    'ORI_PROT',
    'SIGNER_TURNS_PER_USER',
    'SIGNER_PORT',
  ]);
});

it('ignores the names of the CLI', () => {
  const env = {
    ORI_BASE_URL: 'http://127.0.0.1:8080/v1',
    ORI_CLIENT_ID: 'ori-cli',
    ORI_DAEMON_URL: 'http://127.0.0.1:1',
  };
  expect(problemsOf(env)).toEqual([]);
});

it('has every setting of its own in its README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  for (const key of Object.keys(STANDALONE_SPEC)) expect(readme).toContain(`\`${variableName('ORI', key)}\``);
  for (const key of Object.keys(LIMITS_SPEC)) expect(readme).toContain(`\`${variableName('SIGNER', key)}\``);
});
