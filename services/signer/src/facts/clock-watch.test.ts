import { Registry } from 'prom-client';
import { afterEach, expect, test, vi } from 'vitest';
import { DependencyError } from '../core/dependency-error.ts';
import { type ClockWatch, type RemoteClock, watchClock } from './clock-watch.ts';

let watch: ClockWatch | undefined;
afterEach(() => {
  watch?.close();
  vi.useRealTimers();
});

const ahead =
  (seconds: number): RemoteClock =>
  async () =>
    Date.now() + seconds * 1000;
const silent: RemoteClock = () => Promise.reject(new Error('away'));

async function compared(clocks: Record<string, RemoteClock>) {
  const registry = new Registry();
  const changes: boolean[] = [];
  watch = watchClock({ clocks, registry, now: Date.now, onChange: (isWrong) => changes.push(isWrong) });
  await watch.compare();
  return { watch, changes, page: () => registry.metrics() };
}

test.each([
  ['two clocks agree that it is 1.2 s behind', { redis: ahead(1.2), postgresql: ahead(1.2) }],
  ['the only clock that answers is 1.2 s behind it', { redis: ahead(-1.2), postgresql: silent }],
])('refuses while %s', async (_name, clocks) => {
  const { watch, changes } = await compared(clocks);
  expect(() => watch.check()).toThrow(DependencyError);
  expect(changes).toEqual([true]);
});

test.each([
  ['both are within a second', { redis: ahead(0.9), postgresql: ahead(-0.9) }],
  ['one alone disagrees', { redis: ahead(60), postgresql: ahead(0) }],
  ['none answers', { redis: silent, postgresql: silent }],
])('does not refuse if %s', async (_name, clocks) => {
  const { watch, changes } = await compared(clocks);
  watch.check();
  expect(changes).toEqual([]);
});

test('does not treat a slow answer as a wrong clock', async () => {
  const slow: RemoteClock = async () => {
    const read = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return read - 990;
  };
  const { watch } = await compared({ redis: slow });
  watch.check();
});

test('shows only known offsets', async () => {
  const { page } = await compared({ redis: ahead(-5), postgresql: silent });
  const text = await page();
  expect(Number(/signer_clock_offset_seconds\{clock="redis"\} (\S+)/.exec(text)?.[1])).toBeCloseTo(5, 1);
  expect(text).not.toContain('postgresql');
});

test('recovers when the clocks agree again', async () => {
  let seconds = 5;
  const { watch, changes } = await compared({ redis: async () => Date.now() - seconds * 1000 });
  seconds = 0;
  await watch.compare();
  watch.check();
  expect(changes).toEqual([true, false]);
});

test('compares once a second', async () => {
  vi.useFakeTimers();
  let seconds = 0;
  const { watch } = await compared({ redis: async () => Date.now() + seconds * 1000 });
  seconds = 5;
  await vi.advanceTimersByTimeAsync(999);
  watch.check();
  await vi.advanceTimersByTimeAsync(1);
  expect(() => watch.check()).toThrow(DependencyError);
});
