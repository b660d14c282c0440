import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

/** What a process has created or used so far, by name. */
export type Counts = Readonly<Record<string, number>>;

/** Counting objects uses memory itself, so memory is counted first. */
export type Counted = 'memory' | 'objects';

/**
 * Code is interpreted, because what optimized code allocates depends on when it was optimized. Collections take place on
 * the main thread alone, so that the memory in use is known exactly.
 */
export const EXACT_FLAGS = ['--no-opt', '--no-maglev', '--single-threaded-gc', '--max-semi-space-size=32'];

/** The bytes in use in this process's heap, which grow by what is allocated until the next collection. */
const readMemory = (): Counts => ({ bytes: getHeapStatistics().used_heap_size });

/** The promises and timers that this process has created since the first call. */
const readObjects = (): Counts => {
  objects ??= countObjects();
  return { ...objects };
};
let objects: Counts | undefined;

export const readMeter = (counted: Counted): Counts => (counted === 'memory' ? readMemory() : readObjects());

function countObjects(): Counts {
  const counts = { promises: 0, timers: 0 };
  const init = (_id: number, type: string) => {
    if (type === 'PROMISE') counts.promises += 1;
    else if (type === 'Timeout' || type === 'Immediate') counts.timers += 1;
  };
  createHook({ init }).enable();
  return counts;
}

/** The kernel's count of a process's reading and writing system calls; only on Linux. */
export function readSystemCalls(pid: number): Counts {
  if (process.platform !== 'linux') return {};
  const io = readFileSync(`/proc/${pid}/io`, 'latin1');
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1]);
  return { 'system calls': count('syscr') + count('syscw') };
}
