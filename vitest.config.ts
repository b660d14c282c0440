import { configDefaults, defineConfig } from 'vitest/config';

const include = ['libs/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/**/*.test.ts'];

/** What judges how a service behaves under load, and so must be the only load there is. */
const alone = [
  'test/exactly-once/harness.test.ts',
  'test/faults/{disk,matrix}.test.ts',
  'test/shipped/rolling-restarts.test.ts',
];

const limits = { testTimeout: 30_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    globalSetup: ['test/env/global-setup.ts'],
    projects: [
      {
        test: {
          name: 'together',
          include,
          exclude: [...configDefaults.exclude, ...alone],
          maxWorkers: 2,
          ...limits,
        },
      },
      { test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 }, ...limits } },
    ],
  },
});
