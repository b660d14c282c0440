import { expect, test } from 'vitest';
import { createRepeats } from './repeats.ts';

/** Runs a request with this key for each of `count` other calls. */
async function others({ run }: ReturnType<typeof createRepeats>, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await run(`other ${index}`, 'another call', async () => undefined);
}

test('knows the call of an open request, and of the last thousand that are over', async () => {
  const repeats = createRepeats();
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = repeats.run('key', 'call', () => promise);
  const repeat = () => repeats.run('key', 'a different call', async () => undefined);
  await others(repeats, 1001);
  await expect(repeat()).rejects.toThrow();
  resolve();
  await first;
  await others(repeats, 999);
  await expect(repeat()).rejects.toThrow();
  await repeats.run('last', 'another call', async () => undefined);
  await repeat();
});
