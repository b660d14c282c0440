import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';

/** A script that starts a private Redis and PostgreSQL, prints their addresses, and never exits. */
const SCRIPT = `
  const { startRedis } = await import('./redis.ts');
  const { startPostgres } = await import('./postgres.ts');
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  if (process.argv.includes('frozen')) await Promise.all([redis.freeze(), postgres.freeze()]);
  console.log([redis.pid, postgres.pid].join(' '));
  setInterval(() => {}, 1000);
`;

test.each([
  ['SIGKILL', 'running'],
  ['SIGKILL', 'frozen'],
  ['SIGINT', 'running'],
] as const)('after %s of a script its %s servers and their folders are gone', async (signal, state) => {
  const script = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, state], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void script.kill('SIGKILL'));
  const [line] = (await once(createInterface(script.stdout), 'line')) as [string];
  const pids = line.split(' ').map(Number);
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`)));
  expect(folders.every((folder) => existsSync(folder))).toBe(true);
  script.kill(signal);
  await vanished(() => pids.some(isAlive) || folders.some((folder) => existsSync(folder)));
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** There is no event for the exit of a process that is not our child, so this polls until the test's timeout. */
async function vanished(isThere: () => boolean): Promise<void> {
  while (isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
}
