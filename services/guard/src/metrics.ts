import { instrumentsOf } from '@ori/runtime/instruments';
import { createMetrics } from '@ori/runtime/metrics';
import { PROOF_OUTCOMES, type ProofOutcome } from '@ori/verifier';
import { CHECK_ROUTE } from './check.ts';
import { DAEMON_FAILURES, type DaemonFailure } from './daemon.ts';
import { PROXY_ROUTES } from './proxy.ts';

/** The guard's own metrics. The first has the name that every daemon uses, so the daemons' alerts apply to it. */
export function createGuardMetrics() {
  const http = createMetrics({ service: 'guard', routes: [...Object.values(PROXY_ROUTES), CHECK_ROUTE] });
  const { counter } = instrumentsOf(http.registry);
  const proofs = counter('ori_proof_verifications_total', 'Verified requests by outcome.', 'outcome');
  const failures = counter(
    'guard_daemon_failures_total',
    'Calls without a complete answer of the daemon, by kind: connect, time, broken.',
    'kind',
  );
  for (const outcome of PROOF_OUTCOMES) proofs.inc({ outcome }, 0);
  for (const kind of DAEMON_FAILURES) failures.inc({ kind }, 0);
  return {
    http,
    judged: (outcome: ProofOutcome) => proofs.inc({ outcome }),
    daemonFailed: (kind: DaemonFailure) => failures.inc({ kind }),
  };
}
