import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ori/runtime/config';
import { afterAll, expect, it } from 'vitest';
import { loadGuardConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'ori-guard-'));
afterAll(() => rmSync(folder, { recursive: true }));
const ROOT = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
const [ROOT_FILE, NO_ROOT_FILE] = [join(folder, 'root.json'), join(folder, 'no-root.json')];
writeFileSync(ROOT_FILE, JSON.stringify(ROOT));
writeFileSync(NO_ROOT_FILE, '{}');
const KEYS_URL = 'https://api.example/v1/interns/int_1/daemon/jwks.json';
const KEY = Buffer.alloc(32).toString('base64');
const SEED = Buffer.alloc(32, 7).toString('base64url');
const SEED_FILE = join(folder, 'seed');
writeFileSync(SEED_FILE, `${SEED}\n`, { mode: 0o644 });
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
  [{ GUARD_DEADLINE_MS: '30001' }, /^GUARD_DEADLINE_MS: expected/],
  [{ GUARD_REPLAY: 'redis' }, /^GUARD_REDIS_URL: required/],
  [{ GUARD_REPLAY: 'postgres' }, /^GUARD_DATABASE_URL: required/],
  [{ GUARD_DATABASE_URL: 'postgres://a@one,two/db' }, /^GUARD_DATABASE_URL: expected postgres:.*one host/],
  [{ GUARD_DATABASE_URL: 'one' }, /^GUARD_DATABASE_URL: expected postgres:/],
  [{ GUARD_ANSWERS: 'true', GUARD_MODE: 'ext_authz' }, /^GUARD_ANSWERS: expected GUARD_MODE=proxy/],
  [{ GUARD_ANSWERS_KEY: KEY, ...REDIS }, /^GUARD_ANSWERS_KEY: expected GUARD_ANSWERS/],
  [{ GUARD_ANSWERS_KEY: KEY, GUARD_ANSWERS: 'true' }, /^GUARD_ANSWERS_KEY: expected GUARD_ANSWERS/],
  [{ GUARD_ANSWERS_KEY: 'short', GUARD_ANSWERS: 'true', ...REDIS }, /^GUARD_ANSWERS_KEY: expected 32/],
  [{ GUARD_ANSWER_KEY: SEED }, /^GUARD_ANSWER_KEY: expected GUARD_ANSWERS$/],
  [{ GUARD_ANSWER_KEY: 'short', GUARD_ANSWERS: 'true' }, /^GUARD_ANSWER_KEY: expected 32 bytes/],
  [{ GUARD_ANSWER_KEY_FILE: SEED_FILE }, /^GUARD_ANSWER_KEY_FILE: "[^"]*seed" is a secret that everyone/],
  [{ GUARD_ANSWER_KEY_FILE: '/nowhere' }, /^GUARD_ANSWER_KEY_FILE: .*\/nowhere.*ENOENT/],
  [{ GUARD_SPOOL_FOLDER: '/nowhere' }, /^GUARD_SPOOL_FOLDER: cannot write into "\/nowhere" \(ENOENT\)/],
  [{ GUARD_SPOOL_FOLDER: ROOT_FILE }, /^GUARD_SPOOL_FOLDER: cannot write into .*ENOTDIR/],
  [{ GUARD_ROOT_FILE: '/nowhere' }, /^GUARD_ROOT_FILE: cannot read/],
  [{ GUARD_ROOT_FILE: ROOT_FILE }, /^GUARD_KEYS_URL: with a root, expected \{base\}/],
  [{ GUARD_ROOT_FILE: import.meta.filename }, /^GUARD_ROOT_FILE: cannot read .*not JSON/],
  [
    { GUARD_ROOT_FILE: NO_ROOT_FILE, GUARD_KEYS_URL: KEYS_URL },
    /^GUARD_ROOT_FILE: expected a public Ed25519 JWK/,
  ],
  [
    { GUARD_KEYS_URL: 'https://ada:canary@api.example/jwks.json' },
    /^GUARD_KEYS_URL: .*user information.*redacted/,
  ],
  [{ GUARD_DAEMON_URL: 'http://127.0.0.1:8086' }, /^GUARD_DAEMON_URL: .*the guard itself/],
  [{ GUARD_DAEMON_URL: 'http://localhost:81', GUARD_PORT: '81' }, /^GUARD_DAEMON_URL: .*the guard itself/],
  [{ GUARD_DAEMON_URL: 'http://127.0.0.1', GUARD_PORT: '80' }, /^GUARD_DAEMON_URL: .*the guard itself/],
  [{ GUARD_DAEMON_URL: 'http://[::1]:8086', GUARD_HOST: '0.0.0.0' }, /^GUARD_DAEMON_URL: .*the guard itself/],
])('refuses %o', (env, problem) => {
  expect(problemsOf(env)).toContainEqual(expect.stringMatching(problem));
});

it.each(['http://127.0.0.1:8080', 'http://localhost/v1', 'http://[::1]:1', 'https://api.example/v1'])(
  'takes the keys of its intern from %s',
  (base) => {
    expect(problemsOf({ GUARD_KEYS_URL: `${base}/interns/int_1/daemon/jwks.json` })).toEqual([]);
  },
);

it('takes a folder for bodies', () => {
  expect(problemsOf({ GUARD_SPOOL_FOLDER: folder, GUARD_KEYS_URL: KEYS_URL })).toEqual([]);
});

it('takes the key of answers from a file, and no problem shows what is in it', () => {
  const env = { GUARD_KEYS_URL: KEYS_URL, GUARD_ANSWERS: 'true', GUARD_ANSWER_KEY_FILE: SEED_FILE };
  chmodSync(SEED_FILE, 0o600);
  expect(problemsOf(env)).toEqual([]);
  writeFileSync(SEED_FILE, `${SEED}canary`);
  const problems = problemsOf(env).join();
  expect(problems).toMatch(/^GUARD_ANSWER_KEY_FILE|^GUARD_ANSWER_KEY/);
  expect(problems).not.toMatch(/canary|BwcH/);
});

it('takes a key for answers in Redis', () => {
  expect(problemsOf({ GUARD_ANSWERS: 'true', GUARD_ANSWERS_KEY: KEY, ...REDIS })).toEqual([]);
});
