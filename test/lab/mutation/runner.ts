import { type RunnerTask, type RunnerTestSuite, TestRunner } from 'vitest';

/**
 * Ends a run at its first failure, which has killed the mutant. Vitest's own `bail` tells it by a message that can
 * arrive when the next run has begun, and then skips tests of that.
 */
// biome-ignore lint/style/noDefaultExport: Vitest takes the default export
export default class extends TestRunner {
  override onAfterRunTask(task: Parameters<TestRunner['onAfterRunTask']>[0]): void {
    super.onAfterRunTask(task);
    this.#end(task);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    this.#end(suite);
  }

  #end(task: RunnerTask): void {
    if (task.result?.state === 'fail') this.cancel('test-failure');
  }
}
