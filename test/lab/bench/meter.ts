import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

/** What a process has created or used so far, by name. */
export type Counts = Readonly<Record<string, number>>;

/** Counting objects uses memory itself, so a process counts one or the other. */
export type Counted = 'memory' | 'objects';

/**
 * Code is interpreted, because what optimized code allocates depends on when it was optimized. Collections take place on
 * the main thread alone, so that the memory in use is known exactly.
 */
export const EXACT_FLAGS = ['--no-opt', '--no-maglev', '--single-threaded-gc', '--max-semi-space-size=32'];

const objects = { promises: 0, timers: 0 };
const hook = createHook({
  init(_id, type) {
    if (type === 'PROMISE') objects.promises += 1;
    else if (type === 'Timeout' || type === 'Immediate') objects.timers += 1;
  },
});

/** The bytes in use in this process's heap, or the promises and timers that it created while they were counted. */
export function readMeter(counted: Counted): Counts {
  if (counted === 'objects') {
    hook.enable();
    return { ...objects };
  }
  hook.disable();
  return { bytes: getHeapStatistics().used_heap_size };
}

/** The kernel's count of a process's reading and writing system calls; only on Linux. */
export function readSystemCalls(pid: number): Counts {
  if (process.platform !== 'linux') return {};
  const io = readFileSync(`/proc/${pid}/io`, 'latin1');
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1]);
  return { 'system calls': count('syscr') + count('syscw') };
}
