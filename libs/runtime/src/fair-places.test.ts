import { expect, test } from 'vitest';
import { createFairPlaces } from './fair-places.ts';

/** Work that ends when the test says so, and notes when it began. */
function workbench(options: Partial<Parameters<typeof createFairPlaces>[0]> = {}) {
  const inPlace = createFairPlaces({
    ...{ budget: 'work', places: 1, waitingPerKeyMax: 10, waitingMax: 100 },
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

test('keys take turns, however much one of them has waiting', async () => {
  const { begun, endNext, start } = workbench();
  const all = [start('loud', 'loud 1'), start('loud', 'loud 2'), start('loud', 'loud 3')];
  all.push(start('quiet', 'quiet 1'));
  for (const _ of all) await endNext();
  await Promise.all(all);
  expect(begun).toEqual(['loud 1', 'loud 2', 'quiet 1', 'loud 3']);
});

test('one key has no more than its own places, though others are free', async () => {
  const { begun, endNext, start } = workbench({ places: 3, placesPerKey: 2 });
  const all = ['a', 'b', 'c'].map((name) => start('loud', name));
  expect(begun).toEqual(['a', 'b']);
  all.push(start('quiet', 'quiet'));
  expect(begun).toEqual(['a', 'b', 'quiet']);
  await endNext();
  expect(begun).toEqual(['a', 'b', 'quiet', 'c']);
  for (const _ of all) await endNext();
  await Promise.all(all);
});

test('refuses at once what would wait too long, of one key and of all', async () => {
  const { endNext, start } = workbench({ waitingPerKeyMax: 1, waitingMax: 2 });
  const all = [start('a', '1'), start('a', '2')];
  await expect(start('a', '3')).rejects.toMatchObject({ code: 'busy', budget: 'work' });
  all.push(start('b', '4'));
  await expect(start('c', '5')).rejects.toMatchObject({ code: 'busy' });
  for (const _ of all) await endNext();
  await Promise.all(all);
});

test('what is given up while it waits is never begun, and makes room', async () => {
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

test('a place is free again after work that failed', async () => {
  const inPlace = createFairPlaces({ budget: 'work', places: 1, waitingPerKeyMax: 1, waitingMax: 1 });
  await expect(inPlace('a', undefined, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await inPlace('a', undefined, async () => 'done')).toBe('done');
});
