import { ConfigError } from '@ori/runtime/config';
import { expect, it } from 'vitest';
import { loadGuardConfig } from './config.ts';

const KEY = Buffer.alloc(32).toString('base64');
const REDIS = { GUARD_REPLAY: 'redis', GUARD_REDIS_URL: 'redis://127.0.0.1' };

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    loadGuardConfig({ GUARD_INTERN_ID: 'int_1', GUARD_KEYS_URL: 'https://api.example/jwks.json', ...env });
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)];
  }
};

it.each([
  [{ GUARD_INTERN_ID: 'a b' }, /^GUARD_INTERN_ID: expected/],
  [{ GUARD_KEYS_URL: 'http://api.example/jwks.json' }, /^GUARD_KEYS_URL: expected https/],
  [
    { GUARD_KEYS_URL: 'https://127.0.0.1/interns/int_2/daemon/jwks.json' },
    /^GUARD_KEYS_URL: it names another/,
  ],
  [{ GUARD_DAEMON_URL: 'http://127.0.0.1:1/api' }, /^GUARD_DAEMON_URL: expected an origin/],
  [{ GUARD_OPEN_PATHS: '/a?b' }, /^GUARD_OPEN_PATHS: expected/],
  [{ GUARD_OPEN_PATHS: 'healthz' }, /^GUARD_OPEN_PATHS: expected/],
  [{ GUARD_CONTENT_TYPE: 'multipart/form-data' }, /^GUARD_CONTENT_TYPE: expected/],
  [{ GUARD_REPLAY: 'redis' }, /^GUARD_REDIS_URL: required/],
  [{ GUARD_REPLAY: 'postgres' }, /^GUARD_DATABASE_URL: required/],
  [{ GUARD_DATABASE_URL: 'postgres://a@one,two/db' }, /^GUARD_DATABASE_URL: expected postgres:.*one host/],
  [{ GUARD_DATABASE_URL: 'one' }, /^GUARD_DATABASE_URL: expected postgres:/],
  [{ GUARD_ANSWERS: 'true', GUARD_MODE: 'ext_authz' }, /^GUARD_ANSWERS: expected GUARD_MODE=proxy/],
  [{ GUARD_ANSWERS_KEY: KEY, ...REDIS }, /^GUARD_ANSWERS_KEY: expected GUARD_ANSWERS/],
  [{ GUARD_ANSWERS_KEY: KEY, GUARD_ANSWERS: 'true' }, /^GUARD_ANSWERS_KEY: expected GUARD_ANSWERS/],
  [{ GUARD_ANSWERS_KEY: 'short', GUARD_ANSWERS: 'true', ...REDIS }, /^GUARD_ANSWERS_KEY: expected 32/],
  [{ GUARD_ROOT_FILE: '/nowhere' }, /^GUARD_ROOT_FILE: cannot read/],
])('refuses %o', (env, problem) => {
  expect(problemsOf(env)).toContainEqual(expect.stringMatching(problem));
});

it.each(['http://127.0.0.1:8080', 'http://localhost/v1', 'http://[::1]:1', 'https://api.example/v1'])(
  'takes the keys of its intern from %s',
  (base) => {
    expect(problemsOf({ GUARD_KEYS_URL: `${base}/interns/int_1/daemon/jwks.json` })).toEqual([]);
  },
);

it('takes a key for answers in Redis', () => {
  expect(problemsOf({ GUARD_ANSWERS: 'true', GUARD_ANSWERS_KEY: KEY, ...REDIS })).toEqual([]);
});
