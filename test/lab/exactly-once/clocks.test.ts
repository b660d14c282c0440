import { expect, test } from 'vitest';
import { CLOCKED_STORES, type ClockedStoreName } from './clocked-stores.ts';
import { spendOnSteppingClocks } from './clocks.ts';
import { breakLibrary, LIBRARY } from './variants.ts';

const SPENDS = { memory: 80_000, redis: 16_000, postgres: 10_000 } as const;
/** With it, each missing guard shows early. */
const SEED = 'm';

test.each(Object.keys(CLOCKED_STORES) as ClockedStoreName[])(
  'the store %s accepts nothing twice while clocks step back and forth',
  async (store) => {
    const run = await spendOnSteppingClocks(store, LIBRARY, SPENDS[store], SEED);
    expect(run).toMatchObject({ spends: SPENDS[store], twice: 0 });
    expect(run.accepted).toBeGreaterThan(run.proofs / 4);
    expect(run.steps).toBeGreaterThan(SPENDS[store] / 700);
  },
);

test.each([
  ['memory', 'memory-high-water'],
  ['memory', 'memory-v1-burn'],
  ['redis', 'redis-floor'],
  ['redis', 'redis-v1-burn'],
  ['postgres', 'postgres-floor'],
  ['postgres', 'postgres-v1-burn'],
] as const)('detects the store %s without a guard: %s', async (store, variant) => {
  await using broken = await breakLibrary(variant);
  const { twice } = await spendOnSteppingClocks(store, broken.folder, SPENDS[store], SEED);
  expect(twice).toBeGreaterThan(0);
});
