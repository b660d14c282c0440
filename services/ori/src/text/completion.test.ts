import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Completable, renderCompletion } from './completion.ts';
import { wrapLines } from './wrap.ts';

const run = promisify(execFile);
const COMMANDS: Completable[] = [
  {
    path: [],
    commands: [
      { name: 'login', description: "sign in, it's quick" },
      { name: 'interns', description: 'look at interns' },
    ],
    options: [{ flags: ['-v', '--verbose'], description: 'say more' }],
  },
  { path: ['login'], commands: [], options: [{ flags: ['--device'], description: 'with a code' }] },
  { path: ['interns'], commands: [{ name: 'list', description: 'list them' }], options: [] },
  { path: ['interns', 'list'], commands: [], options: [{ flags: ['--status'], description: 'only' }] },
  { path: ['call'], commands: [], options: [{ flags: ['--data'], description: 'body' }], takesIntern: true },
];

it.each([
  [['ori', ''], 'login interns -v --verbose'],
  [['ori', 'lo'], 'login'],
  [['ori', 'login', '-'], '--device -v --verbose'],
  [['ori', 'login', '--verb'], '--verbose'],
  [['ori', '--verbose', 'interns', ''], 'list'],
  [['ori', 'interns', 'list', '--s'], '--status'],
  [['ori', 'call', 'g'], 'greeter'],
  [['ori', 'call', 'greeter', 'g'], ''],
])('completes %j in bash', async (words, expected) => {
  const script = `${renderCompletion('bash', COMMANDS)}
    command() { echo greeter; }
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _ori
    echo "\${COMPREPLY[*]}"`;
  expect((await run('bash', ['-c', script])).stdout).toBe(`${expected}\n`);
});

it('describes candidates in zsh', () => {
  expect(renderCompletion('zsh', COMMANDS)).toContain(`'login:sign in, it'\\''s quick'`);
});

it('breaks help between words, and leaves short lines alone', () => {
  const help = 'Short.\n  ori call int_7Qm2 /api/invoke --data text';
  expect(wrapLines(help, 80)).toBe(help);
  expect(wrapLines(help, 30)).toBe('Short.\n  ori call int_7Qm2\n    /api/invoke --data text');
  expect(wrapLines('x'.repeat(50), 30)).toBe('x'.repeat(50));
});
