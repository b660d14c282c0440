import { readFileSync, writeFileSync } from 'node:fs';

/** The peak resident size of a process since `forgetPeak`. 0 if it has exited. */
export const peakBytes = (pid: number | undefined): number => sizeOf(pid, /^VmHWM:\s+(\d+) kB$/m);

/** What of a process is resident now. 0 if it has exited. */
export const residentBytes = (pid: number | undefined): number => sizeOf(pid, /^VmRSS:\s+(\d+) kB$/m);

function sizeOf(pid: number | undefined, line: RegExp): number {
  try {
    return Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export function forgetPeak(pid: number | undefined): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
