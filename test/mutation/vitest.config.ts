import { defineConfig } from 'vitest/config';

/** The tests of one area in one process, as Stryker needs them to know which test reaches which mutant. */
export default defineConfig({
  test: {
    globalSetup: ['test/env/global-setup.ts'],
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]'),
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
