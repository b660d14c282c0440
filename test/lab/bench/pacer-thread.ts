import { parentPort, workerData } from 'node:worker_threads';

// Sleeps until the next beat and reports it. Unlike timers, `Atomics.wait` can sleep for fractions of a millisecond.

const { firstAt, spacingMs } = workerData as { firstAt: number; spacingMs: number };
const nobody = new Int32Array(new SharedArrayBuffer(4));

for (let beat = 0; ; beat++) {
  const leftMs = firstAt + beat * spacingMs - (performance.timeOrigin + performance.now());
  if (leftMs > 0) Atomics.wait(nobody, 0, 0, leftMs);
  parentPort?.postMessage(beat);
}
