import { expect, test, vi } from 'vitest';
import { createTtlCache } from './ttl-cache.ts';

function asking(answer: (key: string) => Promise<object>, ttlMs = 60_000) {
  const ask = vi.fn(answer);
  const lookups: boolean[] = [];
  const find = createTtlCache({ ttlMs, entriesMax: 10, load: ask, onLookup: (hit) => lookups.push(hit) });
  return { ask, find: async (key: string) => find(key), lookups };
}

test('a loaded value serves the next call, per key', async () => {
  const { ask, find, lookups } = asking(async (key) => ({ key }));
  expect(await find('a')).toBe(await find('a'));
  expect(await find('b')).toEqual({ key: 'b' });
  expect(ask.mock.calls).toEqual([['a'], ['b']]);
  expect(lookups).toEqual([false, true, false]);
});

test('a loaded value expires after its time, counted from the call', async () => {
  const asked = Promise.withResolvers<object>();
  const { ask, find } = asking(() => asked.promise, 50);
  const first = find('a');
  const start = performance.now();
  await expect.poll(() => performance.now() - start, { interval: 5 }).toBeGreaterThan(60);
  asked.resolve({});
  await first;
  await find('a');
  expect(ask).toHaveBeenCalledTimes(2);
});

test('concurrent callers share one load and its failure, which is not cached', async () => {
  let down = true;
  const { ask, find } = asking(async () => {
    if (down) throw new Error('down');
    return {};
  });
  const outcomes = await Promise.allSettled([find('a'), find('a'), find('a')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(ask).toHaveBeenCalledTimes(1);
  down = false;
  expect(await find('a')).toEqual({});
});

test('a load that throws synchronously is a failure like any other', async () => {
  let down = true;
  const { find } = asking(() => {
    if (down) throw new Error('down');
    return Promise.resolve({});
  });
  await expect(find('a')).rejects.toThrow('down');
  down = false;
  expect(await find('a')).toEqual({});
});
