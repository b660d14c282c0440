import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Calls `onBeat` at even times until it is disposed of, from a thread that sleeps in between: a timer is a millisecond
 * coarse, and a loop that looks at the clock keeps a core from those who are measured.
 *
 * @param firstAt as `performance.now()`; a thread needs some 50 ms to begin
 */
export function startPacer(firstAt: number, spacingMs: number, onBeat: () => void): AsyncDisposable {
  const thread = new Worker(join(import.meta.dirname, 'pacer-thread.ts'), {
    workerData: { firstAt: performance.timeOrigin + firstAt, spacingMs },
  });
  thread.on('message', onBeat);
  return {
    async [Symbol.asyncDispose]() {
      await thread.terminate();
    },
  };
}
