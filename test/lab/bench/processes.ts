import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Program, shipped } from '../../env/programs.ts';
import { findProgram, type Room } from '../../env/room.ts';
import { startWorker as startWorkerAt, type Worker } from '../../env/worker.ts';

/** The core of what is measured, and the core of everything else. */
export type Core = 'servers' | 'others';

/** Starts a worker of the benchmark, by the name of its file. */
export function startWorker<Order extends object | number, Answer>(
  file: string,
  core: Core,
  args: readonly string[] = [],
): Worker<Order, Answer> {
  const worker = startWorkerAt<Order, Answer>(join(import.meta.dirname, file), args);
  pin(worker.pid, core);
  return worker;
}

/** A server of `sides/`, which says on which port it listens. */
export interface Server extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

/** @param flags of Node */
export async function startServer(
  name: string,
  core: Core,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<Server> {
  const child = fork(join(import.meta.dirname, `sides/${name}.ts`), args, { execArgv: [...flags] });
  const pid = requirePid(child, name);
  pin(pid, core);
  const ended = once(child, 'exit').then(() =>
    Promise.reject(new Error(`${name} ended before it told its port`)),
  );
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  ended.catch(() => undefined);
  return { pid, port, [Symbol.asyncDispose]: async () => void child.kill('SIGKILL') };
}

/** Starts a program as it ships, with its output in a file, because nothing here would read a pipe. */
export async function startShipped(
  room: Room,
  program: Program,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly pid: number; readonly log: string }> {
  const log = join(room.directory, `${program.replace('/', '-')}.log`);
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, [await shipped(program)], {
    cwd: room.directory,
    stdio: ['ignore', output, output],
    env: { PATH: process.env['PATH'] ?? '', HOME: room.directory, ...environment },
  });
  room.admit(child, 'KILL');
  const pid = requirePid(child, program);
  pin(pid, 'servers');
  return { pid, log };
}

function requirePid({ pid }: { readonly pid?: number | undefined }, name: string): number {
  if (pid === undefined) throw new Error(`${name} did not start`);
  return pid;
}

/** CPU time that the threads of a process have used, in seconds. `/proc/<pid>/stat` counts it in steps of 10 ms. */
export function cpuSeconds(pid: number | undefined): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map(
    (id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'latin1').split(' ')[0],
  );
  return nanoseconds.reduce((sum, one) => sum + Number(one), 0) / 1e9;
}

/** Pins a process and all its threads to one core, if the machine has two cores and `taskset`. */
export function pin(pid: number | undefined, core: Core): void {
  if (pid === undefined || availableParallelism() < 2 || findProgram('taskset') === undefined) return;
  const cpu = core === 'servers' ? '0' : '1';
  execFileSync('taskset', ['-a', '-c', '-p', cpu, String(pid)], { stdio: 'ignore' });
}
