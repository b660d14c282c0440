import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { lagTolerantTimers } from './lag-tolerant-timer.ts';

const holdUp = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('expires after its time', async () => {
  const begun = performance.now();
  await new Promise<void>((resolve) => lagTolerantTimers(40)(resolve));
  expect(performance.now() - begun).toBeGreaterThanOrEqual(38);
});

test('does not expire because the process itself was busy', async () => {
  const heard: string[] = [];
  const cancel = lagTolerantTimers(40)(() => heard.push('expired'));
  holdUp(100);
  await pause(0);
  expect(heard).toEqual([]);
  cancel();
});

test('input that arrived while the process was busy is read before it expires', async () => {
  const heard: string[] = [];
  await new Promise<void>((resolve) => {
    lagTolerantTimers(4)(() => {
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

test('one that starts while others wait has its whole time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
  onTestFinished(() => void vi.useRealTimers());
  const heard: string[] = [];
  const start = lagTolerantTimers(40);
  start(() => heard.push('first'));
  await vi.advanceTimersByTimeAsync(12);
  start(() => heard.push('second'));
  await vi.advanceTimersByTimeAsync(39);
  expect(heard).toEqual(['first']);
  await vi.advanceTimersByTimeAsync(5);
  expect(heard).toEqual(['first', 'second']);
});

test('does not expire once cancelled', async () => {
  const heard: string[] = [];
  lagTolerantTimers(5)(() => heard.push('expired'))();
  await pause(20);
  expect(heard).toEqual([]);
});
