import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Place } from './rows/start.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Seconds until a program has exited with status 0 and printed the expected output. */
export async function runProgram(place: Place, args: readonly string[], writes: RegExp): Promise<number> {
  const startedAt = performance.now();
  const { child, output } = begin(place, args);
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - startedAt) / 1000;
  if (code !== 0 || !writes.test(output())) throw new Error(`${args.join(' ')}: exit ${code}\n${output()}`);
  return seconds;
}

/** Seconds until a program prints the expected output; then stops it. */
export async function untilSaid(place: Place, said: RegExp, args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const { child, output } = begin(place, args);
  const ended = once(child, 'close').then(() => {
    throw new Error(`${args.join(' ')} ended\n${output()}`);
  });
  ended.catch(() => {});
  while (!said.test(output())) await Promise.race([once(child.stdout ?? child, 'data'), ended]);
  const seconds = (performance.now() - startedAt) / 1000;
  await stop(child);
  return seconds;
}

/** Seconds until a signer's `/readyz` answers 200; then stops it. */
export async function untilReady(
  place: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const startedAt = performance.now();
  const { child, output } = begin({ ...place, env: { ...place.env, ...env } }, args);
  const url = `http://127.0.0.1:${env['SIGNER_OPS_PORT']}/readyz`;
  const isReady = () =>
    fetch(url).then(
      ({ status, body }) => body?.cancel().then(() => status === 200) ?? false,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended\n${output()}`);
    await pause(5);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await stop(child);
  return seconds;
}

interface Begun {
  readonly child: ChildProcess;
  readonly output: () => string;
}

function begin({ room, env }: Place, [program = '', ...args]: readonly string[]): Begun {
  const child = spawn(process.execPath, [join(program.startsWith('/') ? '/' : ROOT, program), ...args], {
    cwd: room.directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  room.admit(child, 'KILL');
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  return { child, output: () => text };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
