import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startLagTolerantTimer } from './lag-tolerant-timer.ts';

const holdUp = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('expires after its time', async () => {
  const begun = performance.now();
  await new Promise<void>((resolve) => startLagTolerantTimer(40, resolve));
  expect(performance.now() - begun).toBeGreaterThanOrEqual(38);
});

test('does not expire because the process itself was busy', async () => {
  const heard: string[] = [];
  const cancel = startLagTolerantTimer(40, () => heard.push('expired'));
  holdUp(100);
  await pause(0);
  expect(heard).toEqual([]);
  cancel();
});

test('input that arrived while the process was busy is read before it expires', async () => {
  const heard: string[] = [];
  await new Promise<void>((resolve) => {
    startLagTolerantTimer(4, () => {
      heard.push('expired');
      resolve();
    });
    setTimeout(() => {
      // The last part of the time and the answer are both due when the process resumes.
      setImmediate(() => heard.push('answer'));
      holdUp(20);
    }, 2);
  });
  expect(heard).toEqual(['answer', 'expired']);
});

test('does not expire once cancelled', async () => {
  const heard: string[] = [];
  startLagTolerantTimer(5, () => heard.push('expired'))();
  await pause(20);
  expect(heard).toEqual([]);
});
