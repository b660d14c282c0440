import { beforeAll, inject } from 'vitest';

/** The programs that a test starts run the mutant as well: Stryker's code in the sources reads this variable. */
beforeAll(() => {
  const mutant = inject('activeMutant' as never) as string | undefined;
  if (mutant === undefined) delete process.env['__STRYKER_ACTIVE_MUTANT__'];
  else process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant;
});
