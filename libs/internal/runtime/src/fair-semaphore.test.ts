import { expect, test } from 'vitest';
import { createFairSemaphore } from './fair-semaphore.ts';

/** Work that ends under the control of the test, and records when it began. */
function workbench(options: Partial<Parameters<typeof createFairSemaphore>[0]> = {}) {
  const inPlace = createFairSemaphore({
    budget: 'work',
    permits: 1,
    waitingPerKeyMax: 10,
    waitingMax: 100,
    ...options,
  });
  const begun: string[] = [];
  const endings: (() => void)[] = [];
  return {
    begun,
    endNext: async () => {
      endings.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    start: (key: string, name: string, signal?: AbortSignal) =>
      inPlace(key, signal && { signal }, () => {
        begun.push(name);
        return new Promise<void>((resolve) => endings.push(resolve));
      }),
  };
}

test('keys take turns, however much work one of them has queued', async () => {
  const { begun, endNext, start } = workbench();
  const all = [start('loud', 'loud 1'), start('loud', 'loud 2'), start('loud', 'loud 3')];
  all.push(start('quiet', 'quiet 1'));
  for (const _ of all) await endNext();
  await Promise.all(all);
  expect(begun).toEqual(['loud 1', 'loud 2', 'quiet 1', 'loud 3']);
});

test('one key gets at most its share, even if other slots are free', async () => {
  const { begun, endNext, start } = workbench({ permits: 3, permitsPerKey: 2 });
  const all = ['a', 'b', 'c'].map((name) => start('loud', name));
  expect(begun).toEqual(['a', 'b']);
  all.push(start('quiet', 'quiet'));
  expect(begun).toEqual(['a', 'b', 'quiet']);
  await endNext();
  expect(begun).toEqual(['a', 'b', 'quiet', 'c']);
  for (const _ of all) await endNext();
  await Promise.all(all);
});

test('refuses work immediately if too much is queued, for one key or in total', async () => {
  const { endNext, start } = workbench({ waitingPerKeyMax: 1, waitingMax: 2 });
  const all = [start('a', '1'), start('a', '2')];
  await expect(start('a', '3')).rejects.toMatchObject({ code: 'busy', budget: 'work' });
  all.push(start('b', '4'));
  await expect(start('c', '5')).rejects.toMatchObject({ code: 'busy' });
  for (const _ of all) await endNext();
  await Promise.all(all);
});

test('abandoned work in the queue never begins, and frees its place', async () => {
  const { begun, endNext, start } = workbench({ waitingPerKeyMax: 1 });
  const first = start('a', '1');
  const gone = new AbortController();
  const second = start('a', '2', gone.signal);
  gone.abort(new Error('gone'));
  await expect(second).rejects.toThrow('gone');
  const third = start('a', '3');
  await endNext();
  await endNext();
  await Promise.all([first, third]);
  expect(begun).toEqual(['1', '3']);
});

test('a slot is free again after its work failed', async () => {
  const inPlace = createFairSemaphore({ budget: 'work', permits: 1, waitingPerKeyMax: 1, waitingMax: 1 });
  await expect(inPlace('a', undefined, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await inPlace('a', undefined, async () => 'done')).toBe('done');
});

test('a slot is free again after its work threw before it returned a promise', async () => {
  const inPlace = createFairSemaphore({ budget: 'work', permits: 1, waitingPerKeyMax: 1, waitingMax: 1 });
  const work = (): Promise<never> => {
    throw new Error('failed');
  };
  expect(() => inPlace('a', undefined, work)).toThrow('failed');
  expect(await inPlace('a', undefined, async () => 'done')).toBe('done');
});
