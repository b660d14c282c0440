import { join } from 'node:path';
import { findProgram } from './room.ts';

/** The Prometheus programs; all from one folder if `npm run setup` installed them. */
export interface PrometheusBinaries {
  readonly prometheus: string;
  readonly promtool: string;
  /** The exporter that probes the gateway. */
  readonly blackbox: string;
}

/** Where `npm run setup` unpacks Debian's package, to avoid installing its system service. */
export const PROMETHEUS_FOLDER = join(import.meta.dirname, '../../node_modules/.cache/ori-prometheus');

/** The reason given for skipping tests that need them. */
export const NO_PROMETHEUS =
  'Prometheus is not installed: `npm run setup` installs it on Debian, elsewhere install `prometheus`, `promtool` and `prometheus-blackbox-exporter`';

export function findPrometheus(): PrometheusBinaries | undefined {
  const folder = [join(PROMETHEUS_FOLDER, 'usr/bin')];
  const [prometheus, promtool] = [findProgram('prometheus', folder), findProgram('promtool', folder)];
  const blackbox = findProgram('prometheus-blackbox-exporter', folder);
  return prometheus && promtool && blackbox ? { prometheus, promtool, blackbox } : undefined;
}
