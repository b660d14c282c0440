import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Environment } from './config.ts';
import { FIXED_FLAGS, hardenedCommand } from './hardened-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'ori-hardened-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [kek, linkToKek, loop] = ['kek.json', 'link', 'loop'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
writeFileSync(kek, '{}');
symlinkSync(kek, linkToKek);
symlinkSync(loop, loop);

const built = join(folder, 'thing');
mkdirSync(built);
writeFileSync(join(built, 'main.js'), '');
const program = { prefix: 'THING', folder: built, writes: ['THING_AUDIT_FILE'] };
const flagsOf = (env: Environment, extra: object = {}) =>
  hardenedCommand({ ...program, ...extra }, env, ['check-config']).args;
const problemOf = (env: Environment): string => {
  try {
    return flagsOf(env).join(' ');
  } catch (error) {
    return String(error);
  }
};

it('grants the code, the process’s own /proc files, and the files of the environment', () => {
  const env = {
    THING_KEK_FILE: '/run/kek.json',
    THING_AUDIT_FILE: '/var/log/audit.jsonl',
    OTHER_FILE: '/other',
  };
  expect(flagsOf(env)).toEqual([
    ...FIXED_FLAGS,
    '--max-semi-space-size=16',
    '--allow-fs-read=/run/kek.json',
    '--allow-fs-read=/proc/self/fd',
    '--allow-fs-read=/proc/self/limits',
    `--allow-fs-read=${built}/*`,
    '--allow-fs-write=/var/log/audit.jsonl',
    `${built}/main.js`,
    'check-config',
  ]);
});

it('in a checkout it runs the sources, and grants the workspace', () => {
  const args = flagsOf({}, { folder: '/home/ada/ori/services/thing/bin' });
  expect(args.slice(FIXED_FLAGS.length)).toEqual([
    '--max-semi-space-size=16',
    '--allow-fs-read=/proc/self/fd',
    '--allow-fs-read=/proc/self/limits',
    '--allow-fs-read=/home/ada/ori/libs/*',
    '--allow-fs-read=/home/ada/ori/services/*',
    '--allow-fs-read=/home/ada/ori/node_modules/*',
    '/home/ada/ori/services/thing/src/main.ts',
    'check-config',
  ]);
});

it('grants threads only to a service that uses them', () => {
  expect(flagsOf({})).not.toContain('--allow-worker');
  expect(flagsOf({}, { workers: true })).toContain('--allow-worker');
});

it('grants the certificates that a PostgreSQL address names, in the environment or in a file', () => {
  const address = 'postgres://u:p@h/db?sslmode=verify-full&sslrootcert=/etc/ca.pem';
  const file = join(folder, 'url');
  writeFileSync(file, `${address}\n`);
  for (const env of [{ THING_DATABASE_URL: address }, { THING_DATABASE_URL_FILE: file }]) {
    expect(flagsOf(env)).toContain('--allow-fs-read=/etc/ca.pem');
  }
});

it.each([
  ['a folder', { THING_AUDIT_FILE: folder }, 'THING_AUDIT_FILE: expected a file'],
  ['a pattern', { THING_KEK_FILE: '/etc/*' }, 'THING_KEK_FILE: expected a path without a star'],
  [
    'a folder of certificates',
    { THING_DATABASE_URL: `postgres://h/db?sslkey=${folder}` },
    'THING_DATABASE_URL (sslkey)',
  ],
  [
    'an option of Node',
    { NODE_OPTIONS: '--max-old-space-size=512 --require=/x' },
    'NODE_OPTIONS: "--require"',
  ],
  [
    'its code as a file to write',
    { THING_AUDIT_FILE: join(built, 'main.js') },
    `THING_AUDIT_FILE: "${join(built, 'main.js')}" is read by the service`,
  ],
  [
    'a key as a file to write',
    { THING_KEK_FILE: '/run/kek.json', THING_AUDIT_FILE: '/run/./kek.json' },
    'THING_AUDIT_FILE: "/run/kek.json" is read by the service',
  ],
  [
    'a link to a key as a file to write',
    { THING_KEK_FILE: kek, THING_AUDIT_FILE: linkToKek },
    'is read by the service',
  ],
  ['a path that leads nowhere', { THING_AUDIT_FILE: loop }, `"${loop}" (ELOOP)`],
  ['a preloaded library', { LD_PRELOAD: '/x.so' }, 'LD_PRELOAD: would load native code'],
  ['a library folder', { LD_LIBRARY_PATH: '/x' }, 'LD_LIBRARY_PATH: would load native code'],
  ['a provider of OpenSSL', { OPENSSL_CONF: '/x.cnf' }, 'OPENSSL_CONF: would load native code'],
  ['a name of Node', { NODE_V8_COVERAGE: '/tmp' }, 'NODE_V8_COVERAGE'],
])('%s, which would widen the grants, is refused', (_what, env, words) => {
  expect(problemOf(env)).toContain('the configuration is invalid');
  expect(problemOf(env)).toContain(words);
});

it('lets the operator set heap size, CA certificates and source maps', () => {
  const env = {
    NODE_OPTIONS: '--max-old-space-size=512 --use-system-ca --enable-source-maps',
    NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  };
  expect(hardenedCommand(program, env, []).env).toEqual(env);
  expect(flagsOf({}, { youngSpaceMib: 32 })).toContain('--max-semi-space-size=32');
  expect(flagsOf({}, { compact: true })).toEqual(
    expect.arrayContaining([
      '--optimize-for-size',
      '--no-concurrent-sparkplug',
      '--no-concurrent-recompilation',
      '--max-semi-space-size=2',
    ]),
  );
  const young = '--max-semi-space-size=32';
  expect(flagsOf({ NODE_OPTIONS: young }).join(' ')).not.toContain('semi-space');
});

it('grants reading and writing below data folders, and reading the folders of followed files', () => {
  const extra = { keeps: ['THING_FOLDER'], follows: ['THING_AUDIT_FILES'] };
  const env = { THING_FOLDER: '/var/lib/thing', THING_AUDIT_FILES: '/var/log/a/1.jsonl, /var/log/b/2.jsonl' };
  const args = flagsOf(env, extra);
  expect(args.filter((flag) => flag.startsWith('--allow-fs-write'))).toEqual([
    '--allow-fs-write=/var/lib/thing',
    '--allow-fs-write=/var/lib/thing/*',
  ]);
  for (const path of ['/var/lib/thing/*', '/var/log/a/*', '/var/log/b/*']) {
    expect(args).toContain(`--allow-fs-read=${path}`);
  }
});

it('Node lists each folder that is granted, also one that holds others', () => {
  const around = join(folder, 'around');
  const kept = join(around, 'kept');
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(around, 'audit.jsonl'), '');
  const script = `for (const path of ${JSON.stringify([around, kept])}) require('node:fs').readdirSync(path)`;
  const env = { THING_FOLDER: kept, THING_AUDIT_FILES: join(around, 'audit.jsonl') };
  const flags = flagsOf(env, { keeps: ['THING_FOLDER'], follows: ['THING_AUDIT_FILES'] }).filter((flag) =>
    /^--(permission|allow)/.test(flag),
  );
  execFileSync(process.execPath, [...flags, '-e', script], { stdio: 'pipe' });
});

it.each([
  ['another folder that is written', { THING_GUARD_FOLDER: '/var/lib/thing-guard' }],
  ['a file', { THING_POLICY_FILE: '/var/lib/thing.policy' }],
  ['the folder of a file that is followed', { THING_AUDIT_FILES: '/var/lib/things/a.jsonl' }],
])(
  'refuses a folder whose path is a prefix of that of %s, because Node would deny listing it',
  (_what, env) => {
    const extra = { keeps: ['THING_FOLDER', 'THING_GUARD_FOLDER'], follows: ['THING_AUDIT_FILES'] };
    expect(() => flagsOf({ THING_FOLDER: '/var/lib/thing', ...env }, extra)).toThrow(
      'THING_FOLDER: "/var/lib/thing" is',
    );
  },
);

it.each([
  ['the key is in it', { THING_FOLDER: folder, THING_KEK_FILE: kek }],
  ['it is in the code', { THING_FOLDER: join(built, 'data') }],
])('refuses a folder to write if %s', (_why, env) => {
  expect(() => flagsOf(env, { keeps: ['THING_FOLDER'] })).toThrow('THING_FOLDER');
});
