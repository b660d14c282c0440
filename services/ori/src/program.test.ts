import { readFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { Readable } from 'node:stream';
import { Sink } from '@ori/test-env/sink';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WAIT_SECONDS_DEFAULT } from './commands/login.ts';
import { EXIT, EXIT_MEANINGS } from './core/exit-codes.ts';
import { SILENCE_SECONDS_DEFAULT } from './delivery/signed-call.ts';
import { run } from './program.ts';

const ori = (...args: string[]) => oriWith({ HOME: '/nonexistent' }, ...args);

async function oriWith(environment: Record<string, string>, ...args: string[]) {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const exit = await run(args, {
    environment,
    stdin: Readable.from([]),
    stdout,
    stderr,
    interrupted: new AbortController().signal,
    nowSeconds: () => 1_789_000_000,
  });
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

it('says what is missing to a user without a home', async () => {
  const homedir = vi.spyOn(os, 'homedir').mockImplementation(() => {
    throw new Error('uv_os_homedir returned ENOENT');
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    homedir.mockRestore();
    syncBuiltinESMExports();
  });
  const { exit, stderr } = await oriWith({}, 'whoami');
  expect([exit, stderr]).toEqual([EXIT.unexpected, expect.stringContaining('HOME is not set')]);
  const configured = await oriWith(
    { XDG_CONFIG_HOME: '/nonexistent', XDG_DATA_HOME: '/nonexistent' },
    'whoami',
  );
  expect(configured.exit).toBe(EXIT.signInNeeded);
});

it('documents every exit code in the help', async () => {
  expect(EXIT_MEANINGS.map(([code]) => code)).toEqual(Object.values(EXIT));
  const { stdout } = await ori('--help');
  for (const [code, meaning] of EXIT_MEANINGS)
    expect(stdout).toMatch(new RegExp(`${code}  ${meaning.replace(/[().]/g, '.')}`));
});

it('has help with examples for every command with options', async () => {
  for (const command of ['login', 'sign', 'call']) {
    const { exit, stdout } = await ori(command, '--help');
    expect(exit).toBe(EXIT.ok);
    expect(stdout).toContain('Examples:');
    expect(stdout).toContain('--json');
  }
});

it('mentions every variable of the README in its help', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const { stdout } = await ori('--help');
  for (const [, name = ''] of readme.matchAll(/`(ORI_[A-Z_]+)`/g)) expect(stdout, name).toContain(name);
});

it('states in its help how long it waits', async () => {
  const help = async (command: string) => (await ori(command, '--help')).stdout.replaceAll(/\s+/g, ' ');
  for (const command of ['call', 'proxy', 'mcp'])
    expect(await help(command)).toContain(`how long the daemon may be silent (${SILENCE_SECONDS_DEFAULT})`);
  expect(await help('login')).toContain(`how long to wait (${WAIT_SECONDS_DEFAULT})`);
});

it('listens as a canary where the README of Prometheus says', async () => {
  const readme = await readFile(new URL('../../../deploy/prometheus/README.md', import.meta.url), 'utf8');
  const [, host, port] = /# listens on ([\d.]+):(\d+)/.exec(readme) ?? [];
  const { stdout } = await ori('canary', '--help');
  expect(stdout).toContain(`(default: "${host}")`);
  expect(stdout).toContain(`(default: ${port})`);
});

it('lists its commands in groups', async () => {
  const { stdout } = await ori('--help');
  const headings = [...stdout.matchAll(/^([A-Z][\w ]+):\n {2}[a-z]/gm)].map(([, heading]) => heading);
  expect(headings).toEqual([
    'Sign in',
    'Sign requests of other programs',
    'Make requests',
    'Look and check',
    'About ori',
    'Examples',
  ]);
});

it.each([['version'], ['--version']])('prints the version for ori %s, as JSON with --json', async (asked) => {
  const plain = await ori(asked);
  const json = await ori(asked, '--json');
  expect(JSON.parse(json.stdout)).toEqual({ version: plain.stdout.trim() });
  expect(json.exit).toBe(EXIT.ok);
});

it('takes ls for list', async () => {
  expect(await ori('interns', 'ls', '--help')).toEqual(await ori('interns', 'list', '--help'));
});

it('accepts the common options before and after the command', async () => {
  const before = await ori('--json', 'whoami');
  const after = await ori('whoami', '--json');
  expect(JSON.parse(before.stderr)).toMatchObject({ error: { code: 'not_signed_in', exit: 3 } });
  expect(after).toEqual(before);
});

it.each([
  ['calll', 'call', ['calll']],
  ['--pth', '--path', ['sign', 'int_1', '--pth', '/']],
])('suggests for %s the intended %s', async (_typed, meant, args) => {
  const { exit, stderr } = await ori(...args);
  expect({ exit, stderr }).toEqual({ exit: EXIT.usage, stderr: expect.stringContaining(`${meant}?`) });
});

it.each([
  [['login', "--token=it's sk-secret"], "Unknown option '--token'"],
  [['call', 'int_1', '/', '--timeout', "it's sk-secret"], 'argument is invalid'],
])('does not repeat a value of %j, which may be a token', async (args, problem) => {
  const { exit, stderr } = await ori(...args);
  expect([exit, stderr]).toEqual([EXIT.usage, expect.stringContaining(problem)]);
  expect(stderr).not.toContain('secret');
});

it('reports a missing command to a script as one JSON error', async () => {
  const { exit, stdout, stderr } = await ori('--json');
  expect([exit, stdout]).toEqual([EXIT.usage, '']);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage', exit: EXIT.usage } });
});

it('keeps its help within 80 columns', async () => {
  for (const command of [[], ['login'], ['sign'], ['call'], ['doctor', 'call']]) {
    const { stdout } = await ori(...command, '--help');
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  }
});

it.each(['bash', 'zsh', 'fish'])('tells the completion of %s what may follow', async (shell) => {
  const after = async (...words: string[]) => (await ori('completion', shell, '--', ...words)).stdout;
  const names = async (...words: string[]) =>
    (await after(...words)).split('\n').map((line) => line.split(/[:\t]/)[0]);
  expect(await names('')).toEqual(expect.arrayContaining(['login', 'call', 'doctor']));
  expect(await names('-')).toEqual(expect.arrayContaining(['-v', '--verbose']));
  expect(await names('profiles', 'use', '')).toEqual(['']);
  expect(await names('doctor', 'call', '-')).toEqual(
    expect.arrayContaining(['--content-type', '-H', '--json']),
  );
  expect(await names('interns', 'ls', '')).toContain('--status');
  expect(await names('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  const described = (await after('doctor', '')).includes('report what changed on the way');
  expect(described).toBe(shell !== 'bash');
});

it.each([[[]], [['interns']], [['--verbose']]])(
  'prints the help of a group alone, %j, to stdout',
  async (args) => {
    const { exit, stdout, stderr } = await ori(...args);
    expect([exit, stderr]).toEqual([EXIT.ok, '']);
    expect(stdout).toMatch(/^Usage: ori/);
  },
);

it.each([
  [['status'], 'ori whoami'],
  [['auth', 'login'], 'ori login'],
  [['logn'], 'Did you mean one of log, login?'],
])('says for %j what is meant', async (args, meant) => {
  const { exit, stderr } = await ori(...args);
  expect([exit, stderr]).toEqual([EXIT.usage, expect.stringContaining(meant)]);
});

it('follows an alias to the help of its command', async () => {
  expect((await ori('interns', 'ls', '--nonsense')).stderr).toContain('See: ori interns list --help');
});

it('names what Git Bash makes of a path', async () => {
  const { stderr } = await ori('call', 'greeter', 'C:/Program Files/Git/api/invoke', '-d', '{}');
  expect(stderr).toContain('export MSYS_NO_PATHCONV=1');
});
