import { expect, test } from 'vitest';
import { spendOnSteppingClocks } from './clocks.ts';
import { breakLibrary, LIBRARY } from './variants.ts';

const SPENDS = 200_000;

test('a memory store accepts nothing twice on a clock that steps back and forth', async () => {
  const run = await spendOnSteppingClocks(LIBRARY, SPENDS, 'ci');
  expect(run).toMatchObject({ spends: SPENDS, twice: 0 });
  expect(run.accepted).toBeGreaterThan(run.proofs / 4);
  expect(run.steps).toBeGreaterThan(300);
});

test.each(['memory-high-water', 'memory-v1-burn'])('detects a store without a guard: %s', async (variant) => {
  await using broken = await breakLibrary(variant);
  const { twice } = await spendOnSteppingClocks(broken.folder, SPENDS, 'ci');
  expect(twice).toBeGreaterThan(0);
});
