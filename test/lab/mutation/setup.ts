import { beforeAll, inject, vi } from 'vitest';

const mutant = inject('activeMutant' as never) as string | undefined;

// A test that waits for ever fails after this time; Stryker has to kill the process and start another.
const limitMs = 1000 * Number(process.env['MUTATION_TEST_SECONDS']);
if (mutant !== undefined) vi.setConfig({ testTimeout: limitMs, hookTimeout: 2 * limitMs });

/** The programs that a test starts run the mutant as well: Stryker's code in the sources reads this variable. */
beforeAll(() => {
  if (mutant === undefined) delete process.env['__STRYKER_ACTIVE_MUTANT__'];
  else process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant;
});
