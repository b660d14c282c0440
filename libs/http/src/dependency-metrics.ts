import { Gauge, type Registry } from 'prom-client';

/**
 * Asks after every dependency at each scrape: what a service needs is seen to be missing before a request needs it.
 *
 * @param verdicts `ok` or something else, by the name of the dependency; the names are always the same
 */
export function collectDependencyMetrics(
  registry: Registry,
  verdicts: () => Promise<Readonly<Record<string, string>>>,
): void {
  new Gauge({
    name: 'ori_dependency_up',
    help: 'Whether the dependency worked when this was read: 1 or 0.',
    labelNames: ['dependency'],
    registers: [registry],
    async collect() {
      for (const [dependency, verdict] of Object.entries(await verdicts())) {
        this.set({ dependency }, verdict === 'ok' ? 1 : 0);
      }
    },
  });
}
