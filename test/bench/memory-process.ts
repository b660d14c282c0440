import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pin } from './process-cost.ts';

/** A process whose memory is measured: it does one job at a time and reports the memory it used. */
export interface MemoryProcess extends AsyncDisposable {
  readonly pid: number;
  /** The result of a job of `memory/<name>.ts`. */
  ask<Answer>(order: object): Promise<Answer>;
}

/** Starts `memory/<name>.ts`, which answers each message with its measurement or with `failure`. */
export function openMemoryProcess(name: string): MemoryProcess {
  const child = fork(join(import.meta.dirname, `memory/${name}.ts`), { execArgv: ['--expose-gc'] });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} did not start`);
  pin(pid, 'servers');
  return {
    pid,
    ask: (order) => ask(child, order),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
    },
  };
}

async function ask<Answer>(child: ChildProcess, order: object): Promise<Answer> {
  const answered = once(child, 'message');
  child.send(order);
  const [answer] = (await answered) as [{ answer?: Answer; failure?: string }];
  if (answer.answer === undefined) throw new Error(answer.failure);
  return answer.answer;
}

/** Resident memory of a process in bytes. Linux only. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kilobytes) * 1024;
}
