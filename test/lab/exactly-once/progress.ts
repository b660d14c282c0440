import type { Violation } from './checker.ts';
import { renderViolation } from './report.ts';
import type { Done } from './run.ts';

/** Prints a line per schedule, with the remaining work, and the first violations as soon as they are found. */
export function showProgress(store: string, endsAtMs: number, shownMax: number): (done: Done) => void {
  const startedMs = Date.now();
  const shown = new Set<Violation>();
  return ({ lane, schedule, recoveryMs, done, planned, spends, violations }) => {
    const nowMs = Date.now();
    const leftMs = Math.min(((nowMs - startedMs) / done) * (planned - done), endsAtMs - nowMs);
    const well = Number.isFinite(recoveryMs)
      ? `well again after ${(recoveryMs / 1000).toFixed(1)} s`
      : 'NOT well again';
    console.log(
      `${store} ${done}/${planned}, ${minutes(leftMs)} left: ${lane}: ${schedule.fault}: ${well}; ${spends.toLocaleString('en-US')} spends so far`,
    );
    for (const violation of violations.slice(0, shownMax)) {
      if (!shown.has(violation)) console.log(renderViolation(violation));
      shown.add(violation);
    }
  };
}

function minutes(ms: number): string {
  return ms < 90_000 ? `${Math.max(0, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;
}
