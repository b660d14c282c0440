import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Completable, renderCompletion } from './completion.ts';

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
  { path: ['call'], commands: [], options: [{ flags: ['--data'], description: 'body' }] },
];

it.each([
  [['ori', ''], 'login interns -v --verbose'],
  [['ori', 'lo'], 'login'],
  [['ori', 'login', '-'], '--device -v --verbose'],
  [['ori', 'login', '--verb'], '--verbose'],
  [['ori', '--verbose', 'interns', ''], 'list'],
  [['ori', 'interns', 'list', '--s'], '--status'],
])('completes %j in bash', async (words, expected) => {
  const script = `${renderCompletion('bash', COMMANDS)}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _ori
    echo "\${COMPREPLY[*]}"`;
  expect((await run('bash', ['-c', script])).stdout).toBe(`${expected}\n`);
});

it('describes candidates in zsh', () => {
  expect(renderCompletion('zsh', COMMANDS)).toContain(`'login:sign in, it'\\''s quick'`);
});
