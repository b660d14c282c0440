import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What failed last, as it probably kills the next mutant too; then the quickest. Vitest's own order begins with the longest. */
class LikelyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification) => {
      const { failed = false, duration = 0 } = this.ctx.cache.getTestSpecificationResult(file) ?? {};
      return failed ? 0 : duration;
    };
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

/** The tests of one area in one process, as Stryker needs them to know which test reaches which mutant. */
export default defineConfig({
  test: {
    globalSetup: ['test/lab/mutation/backends.ts'],
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]'),
    isolate: false,
    maxWorkers: 1,
    runner: 'test/lab/mutation/runner.ts',
    setupFiles: ['test/lab/mutation/setup.ts'],
    sequence: { sequencer: LikelyFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
