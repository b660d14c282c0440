import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';

/** The folder that stands for `/`. */
export const HOST = process.env['RUNBOOK_HOST'] ?? '';

export interface Start {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const pidFile = (name: string) => join(HOST, 'run', `${name}.pid`);
/** Not one that has ended and that nobody has waited for yet. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'));
}

/** Runs a program to its end on the caller's streams, and exits with its status if it fails. */
export function runOnce({ words: [program = '', ...words], env }: Start): void {
  const { status } = spawnSync(program, words, {
    env: { NODE_COMPILE_CACHE: join(HOST, 'cache'), ...env },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Starts a service, and resolves when it listens. @throws Error with its output if it ends before */
export async function startService(
  name: string,
  { words: [program = '', ...words], env }: Start,
): Promise<void> {
  const log = join(HOST, 'run', `${name}.log`);
  mkdirSync(dirname(log), { recursive: true });
  rmSync(log, { force: true });
  const output = openSync(log, 'a');
  // No service outlives a test that is killed.
  const child = spawn('timeout', ['300', program, ...words], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', output, output],
    detached: true,
  });
  child.unref();
  writeFileSync(pidFile(name), String(child.pid));
  while (!readFileSync(log, 'utf8').includes('"msg":"listening"')) {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${readFileSync(log, 'utf8')}`);
    await setTimeout(20);
  }
}

export async function stopService(name: string): Promise<void> {
  if (!existsSync(pidFile(name))) return;
  const pid = pidOf(name);
  process.kill(pid, 'SIGTERM');
  while (isRunning(pid)) await setTimeout(20);
  rmSync(pidFile(name));
}

export function pidOf(name: string): number {
  return Number(readFileSync(pidFile(name), 'utf8'));
}
