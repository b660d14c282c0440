import { readdirSync, readFileSync } from 'node:fs';

/**
 * The longest time that any thread of a process was ready to run and had no processor, in milliseconds since the process
 * started. 0 if the system does not report it (Linux does).
 */
export function processorWaitMs(pid: number | undefined): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return Math.max(...threads.map((thread) => waitOf(`/proc/${pid}/task/${thread}/schedstat`))) / 1e6;
  } catch {
    return 0;
  }
}

function waitOf(path: string): number {
  return Number(readFileSync(path, 'utf8').split(' ')[1]);
}
