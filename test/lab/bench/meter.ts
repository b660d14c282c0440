import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { GCProfiler, getHeapStatistics } from 'node:v8';

/** What a process has created or used so far, by name. */
export type Counts = Readonly<Record<string, number>>;

/** Each way of counting uses memory itself, so a process counts in one of them at a time. */
export type Counted = 'memory' | 'objects' | 'garbage';

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

/**
 * The bytes in use in this process's heap; the promises and timers that it created while they were counted; or the bytes
 * that it allocated since the last reading, and how often a scavenge collected some.
 */
export function readMeter(counted: Counted): Counts {
  if (counted === 'garbage') return readGarbage();
  if (counted === 'objects') {
    hook.enable();
    return { ...objects };
  }
  hook.disable();
  return { bytes: getHeapStatistics().used_heap_size };
}

interface Collection {
  readonly gcType: string;
  readonly beforeGC: { readonly heapStatistics: { readonly usedHeapSize: number } };
  readonly afterGC: { readonly heapStatistics: { readonly usedHeapSize: number } };
}

let profiler: GCProfiler | undefined;
let inUse = 0;

/** V8 reports the use before and after each collection: what came between one and the next was allocated. */
function readGarbage(): Counts {
  const collections: Collection[] = profiler?.stop().statistics ?? [];
  let bytes = 0;
  for (const { beforeGC, afterGC } of collections) {
    bytes += beforeGC.heapStatistics.usedHeapSize - inUse;
    inUse = afterGC.heapStatistics.usedHeapSize;
  }
  bytes += getHeapStatistics().used_heap_size - inUse;
  const scavenges = collections.filter(({ gcType }) => gcType === 'Scavenge').length;
  profiler = new GCProfiler();
  profiler.start();
  inUse = getHeapStatistics().used_heap_size;
  return { bytes, scavenges };
}

/** The kernel's count of a process's reading and writing system calls; only on Linux. */
export function readSystemCalls(pid: number): Counts {
  if (process.platform !== 'linux') return {};
  const io = readFileSync(`/proc/${pid}/io`, 'latin1');
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1]);
  return { 'system calls': count('syscr') + count('syscw') };
}
