import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Calls `onBeat` at even intervals until disposed, from a thread that sleeps in between: timers have millisecond
 * resolution, and a busy loop would take a core from the measured processes.
 *
 * @param firstAt as `performance.now()`; a thread needs about 50 ms to start
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
