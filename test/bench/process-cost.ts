import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { findProgram } from '../env/room.ts';

/** Clock ticks per second in `/proc/<pid>/stat`: 100 on every architecture that Node supports. */
const TICKS_PER_SECOND = 100;

/** CPU time that a process has used, user and system, all its threads, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Pins a process and all its threads to one core, if the machine has two cores and `taskset`. */
export function pin(pid: number, core: 'servers' | 'others'): void {
  if (availableParallelism() < 2 || findProgram('taskset') === undefined) return;
  execFileSync('taskset', ['-a', '-c', '-p', core === 'servers' ? '0' : '1', String(pid)], {
    stdio: 'ignore',
  });
}
