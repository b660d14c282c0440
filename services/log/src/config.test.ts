import { ConfigError } from '@ori/runtime/config';
import { expect, it } from 'vitest';
import { loadLogConfig } from './config.ts';

const problemsOf = (load: () => unknown): readonly string[] => {
  try {
    load();
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)];
  }
};

it.each(['https://api.example/log', 'api.example', 'api.example/log/', 'api.example/a b'])(
  'refuses the origin %s',
  (LOG_ORIGIN) => {
    const problems = problemsOf(() => loadLogConfig({ LOG_ORIGIN }));
    expect(problems).toContainEqual(expect.stringMatching(/^LOG_ORIGIN: expected a host and a path/));
  },
);

const VALID = {
  LOG_ORIGIN: 'api.example/log',
  LOG_KEY: Buffer.alloc(32).toString('base64'),
  LOG_AUDIT_FILES: '/audit.jsonl',
  LOG_FOLDER: '/log',
  LOG_GUARD_FOLDER: '/guard',
};

it.each(['/log', '/log/', '/log/guard', '/guard/../log/guard'])(
  'refuses the guard folder %s, which a copy of the log would bring with it',
  (LOG_GUARD_FOLDER) => {
    expect(problemsOf(() => loadLogConfig({ ...VALID, LOG_GUARD_FOLDER }))).toEqual([
      'LOG_GUARD_FOLDER: expected a folder outside LOG_FOLDER',
    ]);
    expect(problemsOf(() => loadLogConfig({ ...VALID, LOG_FOLDER: '/log/guards' }))).toEqual([]);
  },
);

it('refuses an audit file whose name begins as that of another, which would be read twice', () => {
  const problems = (LOG_AUDIT_FILES: string) =>
    problemsOf(() => loadLogConfig({ ...VALID, LOG_AUDIT_FILES }));
  expect(problems('/audit-10,/audit-2,/audit-1')).toEqual([
    'LOG_AUDIT_FILES: /audit-10 would be taken for a file that was rotated away from /audit-1',
  ]);
  expect(problems('/audit-1.jsonl,/audit-10.jsonl,/audit-1.jsonl')).toEqual([]);
});

it('refuses client certificates without a certificate of its own', () => {
  const problems = problemsOf(() =>
    loadLogConfig({ ...VALID, LOG_TLS_CLIENT_CA_FILE: import.meta.filename }),
  );
  expect(problems).toEqual([expect.stringMatching(/^LOG_TLS_CLIENT_CA_FILE: /)]);
});
