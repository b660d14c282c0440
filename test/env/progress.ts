import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';

const EVERY_MS = 20_000;

/** Prints progress and the running tests every 20 s, for logs, which cannot redraw lines. */
export class Progress implements Reporter {
  #files = 0;
  #ended = 0;
  #begun = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #running = new Map<TestModule, string>();

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    if (process.stdout.isTTY) return;
    this.#files = specifications.length;
    this.#begun = performance.now();
    this.#timer = setInterval(() => this.#say(), EVERY_MS).unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.set(module, '');
  }

  onTestCaseReady(test: TestCase): void {
    // Reports for a finished module may still arrive.
    if (this.#running.has(test.module)) this.#running.set(test.module, ` > ${test.name}`);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module);
    this.#ended += 1;
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  #say(): void {
    const seconds = Math.round((performance.now() - this.#begun) / 1000);
    const running = [...this.#running].map(([module, test]) => `${module.relativeModuleId}${test}`);
    console.log(`${seconds} s: ${this.#ended} of ${this.#files} files; running: ${running.join('; ')}`);
  }
}
