import { instrumentsOf } from '@ori/runtime/instruments';
import { createMetrics } from '@ori/runtime/metrics';
import type { LineEntry } from '@ori/tlog/entry';

/** The log's own metrics. Label values come from its configuration, and every series exists from the start. */
export function createLogMetrics(
  routes: readonly string[],
  sources: readonly string[],
  witnesses: readonly string[],
) {
  const http = createMetrics({ service: 'log', routes });
  const { counter, gauge } = instrumentsOf(http.registry);
  const lines = counter(
    'log_lines_total',
    'Audit lines appended to the tree: of proofs, of published keys, and torn ones.',
    'kind',
  );
  const size = gauge('log_checkpoint_leaves', 'Leaves of the tree in the last published checkpoint.');
  const complete = gauge(
    'log_complete_timestamp_seconds',
    'Unix time up to which the published tree has every audit line of every source; 0 before the first checkpoint.',
  );
  const failing = gauge('log_source_failing', '1 while an audit file cannot be followed, else 0.', 'source');
  const witness = counter(
    'log_witness_failures_total',
    'Checkpoints that a witness did not cosign.',
    'witness',
  );
  const failures = counter('log_failures_total', 'Writes and publications that failed and are retried.');
  for (const kind of ['proof', 'key', 'torn']) lines.inc({ kind }, 0);
  for (const source of sources) failing.set({ source }, 0);
  for (const name of witnesses) witness.inc({ witness: name }, 0);
  return {
    http,
    appended({ proof, key, nothing }: Readonly<Record<LineEntry['of'], number>>): void {
      lines.inc({ kind: 'proof' }, proof);
      lines.inc({ kind: 'key' }, key);
      lines.inc({ kind: 'torn' }, nothing);
    },
    published(leaves: number, completeAt: number | undefined): void {
      size.set(leaves);
      if (completeAt !== undefined) complete.set(completeAt);
    },
    sourceFailing: (source: string, is: boolean) => failing.set({ source }, is ? 1 : 0),
    witnessFailed: (name: string) => witness.inc({ witness: name }),
    failed: () => failures.inc(),
  };
}
