import { globSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createSigningKey } from '@ori/proof/signing';
import { Sink } from '@ori/test-env/sink';
import { expect, it } from 'vitest';
import { EXIT, EXIT_MEANINGS } from './exit-codes.ts';
import { run } from './program.ts';

async function admin(...args: string[]) {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const exit = await run(args, {
    environment: {},
    stdin: Readable.from([]),
    stdout,
    stderr,
  });
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

const COMMANDS = {
  migrate: [],
  apply: [],
  org: ['list', 'delete'],
  workspace: ['list', 'delete'],
  programme: ['add', 'remove'],
  user: ['list', 'disable', 'enable', 'link', 'unlink', 'revoke-sessions', 'delete'],
  member: ['list', 'remove'],
  key: ['create', 'list', 'disable'],
  intern: ['list', 'icon', 'delete'],
  'signing-key': ['add', 'rotate', 'list', 'retire', 'revoke'],
  'answer-key': ['make'],
  byok: ['create', 'list', 'rotate', 'disable', 'enable', 'delete'],
  kek: ['generate', 'list', 'promote', 'reseal', 'remove', 'wrap', 'unwrap'],
  audit: ['list', 'export', 'compare', 'verify', 'keys'],
  lifecycle: ['on', 'off', 'show'],
} as const;

/** Command lines in the code of all documents. */
function documented(): string[] {
  const root = new URL('../../..', import.meta.url).pathname;
  const files = globSync('{*,{deploy,libs,services}/**/*}.md', {
    cwd: root,
    exclude: (name) => name.endsWith('node_modules') || name === 'CHANGELOG.md',
  });
  return files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    return [...text.matchAll(/`ori-admin ([a-z][^`]*)`|^ {4}.*?\bori-admin ([a-z][^#|<>\n]*)/gm)].map(
      ([, span, line = '']) => (span ?? line).replaceAll(/\s+/g, ' '),
    );
  });
}

it('has every command and option that a document names', async () => {
  const lines = new Set(documented());
  expect(lines.size).toBeGreaterThan(60);
  for (const line of lines) {
    const command = /^[a-z-]+(?: [a-z][a-z-]*)?/.exec(line.replace(/ --.*/, ''))?.[0] ?? '';
    const { stdout } = await admin(...command.split(' '), '--help');
    expect(stdout, line).toContain(`Usage: ori-admin ${command}`);
    for (const [option] of line.matchAll(/(?<= )--[a-z-]+/g)) expect(stdout, line).toContain(option);
  }
});

it('documents every exit code in the help', async () => {
  const { stdout } = await admin('--help');
  for (const [code, meaning] of EXIT_MEANINGS) expect(stdout).toContain(`${code}  ${meaning}`);
});

it.each(Object.entries(COMMANDS))('lists %s and its subcommands in the help', async (noun, verbs) => {
  const { exit, stdout } = await admin(noun, '--help');
  expect(exit).toBe(EXIT.ok);
  if (verbs.some((verb) => verb === 'list'))
    expect(await admin(noun, 'ls', '--help')).toEqual(await admin(noun, 'list', '--help'));
  for (const verb of verbs) {
    expect(stdout).toMatch(new RegExp(`^  ${verb}[ |]`, 'm'));
    expect((await admin(noun, verb, '--help')).stdout).toContain('--json');
  }
});

it('says the same failure to people and, with --json, to scripts', async () => {
  const people = await admin('org', 'list');
  expect(people).toMatchObject({
    exit: 2,
    stdout: '',
    stderr: expect.stringContaining('ORI_ADMIN_DATABASE_URL'),
  });
  const scripts = await admin('org', 'list', '--json');
  expect(JSON.parse(scripts.stderr)).toEqual({
    error: {
      code: 'configuration',
      exit: 2,
      message: expect.stringContaining('ORI_ADMIN_DATABASE_URL'),
      next: expect.any(String),
    },
  });
});

it.each([
  [['key', 'create', '--kind', 'api', '--name', 'x']],
  [['key', 'create', '--kind', 'management', '--name', 'x', '--workspace', 'ws_1']],
  [['key', 'disable', 'sk-ori-v1-secret']],
  [['intern', 'list', '--limit', '0']],
  [['signing-key', 'add', 'int_1', '--expires-at', '1e3']],
  [['byok', 'create', '--provider', 'openai', '--workspace', 'ws_1', '--key', 'sk-secret']],
  [['byok', 'create', '--provider', 'openai', '--workspace', 'ws_1', '--key=sk-secret']],
  [['byok', 'create', '--provider', 'openai', '--kee=sk-secret']],
  [['org', 'mend']],
  [['org']],
])('refuses %j before it reads the environment, and repeats no secret', async (args) => {
  const { exit, stderr } = await admin(...args);
  expect(exit).toBe(EXIT.usage);
  expect(stderr).not.toMatch(/ORI_ADMIN_|secret/);
});

it('hides the refused option from the help', async () => {
  expect((await admin('byok', 'create', '--help')).stdout).not.toMatch(/--key\b(?!-)/);
});

it('makes an answer key once, in a file of its owner alone', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'answer-key-')), 'answer.key');
  const { stdout, stderr } = await admin('answer-key', 'make', file);
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^[\w-]{43}\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const x = Buffer.from(createSigningKey(Buffer.from(text, 'base64url')).publicKey).toString('base64url');
  expect(stdout).toBe(`${x}\n`);
  expect(stderr).toContain(`answer_keys: ["${x}"]`);
  expect(await admin('answer-key', 'make', file)).toMatchObject({
    exit: EXIT.usage,
    stdout: '',
    stderr: expect.stringContaining('it already exists'),
  });
  expect(readFileSync(file, 'utf8')).toBe(text);
});
