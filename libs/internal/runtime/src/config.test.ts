import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest';
import {
  ConfigError,
  choice,
  type Environment,
  flag,
  integer,
  list,
  loadConfig,
  path,
  type Spec,
  secret,
  text,
  url,
} from './config.ts';
import type { Secret } from './secret.ts';
import { VERSION } from './version.ts';

const folder = mkdtempSync(join(tmpdir(), 'ori-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: string, mode = 0o600): string {
  const name = join(folder, `${Math.random()}`);
  writeFileSync(name, content);
  chmodSync(name, mode);
  return name;
}

function problems(spec: Spec, env: Environment): readonly string[] {
  try {
    loadConfig('SIGNER', spec, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const age = integer({ min: 1, max: 600, default: 60, doc: 'how old a proof may be', unit: 's' });

describe('loadConfig', () => {
  it('reads each kind of value into its own type', () => {
    const spec = {
      host: text({ default: '127.0.0.1', doc: 'd' }),
      proofMaxAgeSeconds: age,
      regionalHosts: list({ default: [], doc: 'd' }),
      kekFile: path({ doc: 'd' }),
      trustGateway: flag({ default: false, doc: 'd' }),
      auditSync: choice(['kernel', 'disk'], { default: 'kernel', doc: 'd' }),
      issuer: url({ doc: 'd' }),
      audience: text({ optional: true, doc: 'd' }),
      redisUrl: secret({ doc: 'd' }),
    };
    const config = loadConfig('SIGNER', spec, {
      SIGNER_PROOF_MAX_AGE_SECONDS: '120',
      SIGNER_REGIONAL_HOSTS: 'eu.example.org, us.example.org',
      SIGNER_KEK_FILE: '/kek',
      SIGNER_TRUST_GATEWAY: 'true',
      SIGNER_AUDIT_SYNC: 'disk',
      SIGNER_ISSUER: 'https://issuer.example/',
      SIGNER_REDIS_URL: 'redis://h',
      PATH: '/bin',
    });
    expect({ ...config, redisUrl: config.redisUrl.reveal() }).toEqual({
      host: '127.0.0.1',
      proofMaxAgeSeconds: 120,
      regionalHosts: ['eu.example.org', 'us.example.org'],
      kekFile: '/kek',
      trustGateway: true,
      auditSync: 'disk',
      issuer: 'https://issuer.example/',
      audience: undefined,
      redisUrl: 'redis://h',
    });
    expectTypeOf(config.proofMaxAgeSeconds).toEqualTypeOf<number>();
    expectTypeOf(config.audience).toEqualTypeOf<string | undefined>();
    expectTypeOf(config.auditSync).toEqualTypeOf<'kernel' | 'disk'>();
    expectTypeOf(config.regionalHosts).toEqualTypeOf<readonly string[]>();
    expectTypeOf(config.redisUrl).toEqualTypeOf<Secret>();
  });

  it('names the variable, the expected format and the value', () => {
    expect(problems({ proofMaxAgeSeconds: age }, { SIGNER_PROOF_MAX_AGE_SECONDS: '10m' })).toEqual([
      'SIGNER_PROOF_MAX_AGE_SECONDS: expected an integer from 1 to 600, got "10m"',
    ]);
  });

  it('reports all errors together', () => {
    const spec = {
      port: integer({ min: 0, max: 65535, doc: 'd' }),
      issuer: url({ doc: 'd' }),
      dsn: secret({ doc: 'd' }),
    };
    const env = { SIGNER_PORT: '65536', SIGNER_ISSUER: 'nowhere', SIGNER_PROT: '1' };
    expect(problems(spec, env)).toEqual([
      'SIGNER_PORT: expected an integer from 0 to 65535, got "65536"',
      'SIGNER_ISSUER: expected an absolute URL (https:// or http://) without user information, got "nowhere"',
      'SIGNER_DSN or SIGNER_DSN_FILE: required, expected a secret',
      'SIGNER_PROT: unknown name, did you mean SIGNER_PORT?',
    ]);
  });

  it.each(['0', '601', '-1', '1.0', '1e2', '0x10', ' 5', '5 ', '+5', '05', '9007199254740993', '١'])(
    'refuses %j as an integer from 1 to 600',
    (value) => {
      expect(problems({ age }, { SIGNER_AGE: value })).toHaveLength(1);
    },
  );

  it.each(['TRUE', '1', 'yes', 'true '])('refuses %j as a boolean', (value) => {
    expect(problems({ on: flag({ doc: 'd' }) }, { SIGNER_ON: value })).toHaveLength(1);
  });

  it.each([
    ['text', text({ doc: 'd' })],
    ['path', path({ doc: 'd' })],
    ['url', url({ doc: 'd' })],
  ])('refuses white space at the ends of a %s, such as the CR of a file with CRLF', (_kind, any) => {
    expect(problems({ any }, { SIGNER_ANY: 'https://issuer.example' })).toEqual([]);
    for (const value of ['https://issuer.example\r', 'https://issuer.example\n', ' https://issuer.example'])
      expect(problems({ any }, { SIGNER_ANY: value })).toEqual([
        `SIGNER_ANY: expected ${any.expected}, got ${JSON.stringify(value)}, which has white space at an end`,
      ]);
  });

  it('refuses a list with an empty or invalid item', () => {
    const hosts = list({ default: [], doc: 'd', item: 'host name', pattern: /^[a-z.]+$/ });
    for (const value of ['a,,b', ' , ']) {
      expect(problems({ any: list({ default: [], doc: 'd' }) }, { SIGNER_ANY: value })).toHaveLength(1);
    }
    for (const value of ['a,,b', 'a,', 'a,B'])
      expect(problems({ hosts }, { SIGNER_HOSTS: value })).toHaveLength(1);
  });

  it('treats an empty variable as unset', () => {
    expect(loadConfig('SIGNER', { age }, { SIGNER_AGE: '' })).toEqual({ age: 60 });
    expect(problems({ issuer: url({ doc: 'd' }) }, { SIGNER_ISSUER: '' })).toHaveLength(1);
  });

  it('refuses an unknown name under its prefix, and ignores other names', () => {
    expect(problems({ age }, { SIGNER_SOMETHING_ELSE: 'x', SIGNERS_AGE: 'x', MANAGEMENT_AGE: 'x' })).toEqual([
      `SIGNER_SOMETHING_ELSE: unknown name; version ${VERSION} has no such setting, remove it`,
    ]);
    expect(problems({ age }, { SIGNER_AGE_FILE: '/x' })[0]).toMatch(/^SIGNER_AGE_FILE: unknown name/);
  });

  it('does not print a credential under a wrong name', () => {
    const env = { SIGNER_AGE: 'redis://user:canary@host' };
    expect(problems({ age }, env)).toEqual(['SIGNER_AGE: expected an integer from 1 to 600, got [redacted]']);
    const [problem, ...more] = problems(
      { issuer: url({ doc: 'd' }) },
      { SIGNER_ISSUER: 'https://a:canary@b' },
    );
    expect(problem).toMatch(/^SIGNER_ISSUER: .*, got \[redacted\]$/);
    expect(more).toEqual([]);
  });
});

describe('a secret', () => {
  const spec = { dsn: secret({ doc: 'd' }) };

  it('comes from a file, without the line feed at its end', () => {
    for (const end of ['', '\n', '\r\n']) {
      expect(loadConfig('SIGNER', spec, { SIGNER_DSN_FILE: file(`two words ${end}`) }).dsn.reveal()).toBe(
        'two words ',
      );
    }
  });

  it('set twice is refused', () => {
    expect(problems(spec, { SIGNER_DSN: 'canary', SIGNER_DSN_FILE: file('canary') })).toEqual([
      'SIGNER_DSN and SIGNER_DSN_FILE: set one of them, not both',
    ]);
  });

  it('in a missing or empty file is refused', () => {
    const missing = join(folder, 'missing');
    const empty = file('\n');
    expect(problems(spec, { SIGNER_DSN_FILE: missing })).toEqual([
      `SIGNER_DSN_FILE: cannot read "${missing}" (ENOENT)`,
    ]);
    expect(problems(spec, { SIGNER_DSN_FILE: empty })).toEqual([`SIGNER_DSN_FILE: "${empty}" is empty`]);
    expect(problems(spec, { SIGNER_DSN_FILE: folder })).toEqual([
      `SIGNER_DSN_FILE: cannot read "${folder}" (EISDIR)`,
    ]);
  });

  it.each([0o600, 0o400, 0o440, 0o640])('is read from a file of mode %o', (mode) => {
    expect(problems(spec, { SIGNER_DSN_FILE: file('canary', mode) })).toEqual([]);
  });

  it.each([0o644, 0o604, 0o602, 0o444, 0o666, 0o601])(
    'in a file that others may open (%o) is refused',
    (mode) => {
      const open = file('canary', mode);
      expect(problems(spec, { SIGNER_DSN_FILE: open })).toEqual([
        `SIGNER_DSN_FILE: "${open}" is a secret that everyone on this machine may open (mode 0${mode.toString(8)}): ` +
          'chmod 0600, or 0440 where a group reads it',
      ]);
    },
  );

  it('in a file that its group may write is refused', () => {
    const [problem] = problems(spec, { SIGNER_DSN_FILE: file('canary', 0o660) });
    expect(problem).toContain('its group may write (mode 0660)');
  });

  it('behind a symbolic link is checked at the target', () => {
    const link = join(folder, 'link');
    symlinkSync(file('canary', 0o644), link);
    expect(problems(spec, { SIGNER_DSN_FILE: link })).toHaveLength(1);
  });

  it('that is not acceptable is refused without being printed', () => {
    const picky = {
      dsn: secret({ doc: 'd', expected: 'a Redis URL', accepts: (value) => value.startsWith('redis:') }),
    };
    expect(problems(picky, { SIGNER_DSN: 'canary' })).toEqual([
      'SIGNER_DSN: expected a Redis URL, got [redacted]',
    ]);
    expect(problems(picky, { SIGNER_DSN: 'redis://h' })).toEqual([]);
  });

  it('may be omitted if it is optional', () => {
    expect(loadConfig('SIGNER', { dsn: secret({ doc: 'd', optional: true }) }, {})).toEqual({
      dsn: undefined,
    });
  });
});
