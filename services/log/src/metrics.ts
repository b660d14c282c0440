import { createMetrics, type Metrics } from '@ori/runtime/metrics';
import { Counter, Gauge } from 'prom-client';

export interface LogMetrics {
  readonly http: Metrics;
  appended(proofs: number, torn: number): void;
  published(size: number, completeAt: number | undefined): void;
  sourceFailing(source: string, failing: boolean): void;
  witnessFailed(witness: string): void;
  failed(): void;
}

/** The log's own metrics. Label values come from its configuration, and every series exists from the start. */
export function createLogMetrics(
  routes: readonly string[],
  sources: readonly string[],
  witnesses: readonly string[],
): LogMetrics {
  const http = createMetrics({ service: 'log', routes });
  const registers = [http.registry];
  const lines = new Counter({
    name: 'log_lines_total',
    help: 'Audit lines appended to the tree: of proofs, and torn ones.',
    labelNames: ['kind'],
    registers,
  });
  const size = new Gauge({
    name: 'log_checkpoint_leaves',
    help: 'Leaves of the tree in the last published checkpoint.',
    registers,
  });
  const complete = new Gauge({
    name: 'log_complete_timestamp_seconds',
    help: 'Unix time up to which the published tree has every audit line of every source; 0 before the first checkpoint.',
    registers,
  });
  const failing = new Gauge({
    name: 'log_source_failing',
    help: '1 while an audit file cannot be followed, else 0.',
    labelNames: ['source'],
    registers,
  });
  const witness = new Counter({
    name: 'log_witness_failures_total',
    help: 'Checkpoints that a witness did not cosign.',
    labelNames: ['witness'],
    registers,
  });
  const failures = new Counter({
    name: 'log_failures_total',
    help: 'Writes and publications that failed and are retried.',
    registers,
  });
  for (const kind of ['proof', 'torn']) lines.inc({ kind }, 0);
  for (const source of sources) failing.set({ source }, 0);
  for (const name of witnesses) witness.inc({ witness: name }, 0);
  return {
    http,
    appended(proofs, torn) {
      lines.inc({ kind: 'proof' }, proofs);
      lines.inc({ kind: 'torn' }, torn);
    },
    published(leaves, completeAt) {
      size.set(leaves);
      if (completeAt !== undefined) complete.set(completeAt);
    },
    sourceFailing: (source, is) => failing.set({ source }, is ? 1 : 0),
    witnessFailed: (name) => witness.inc({ witness: name }),
    failed: () => failures.inc(),
  };
}
