import { renderTable } from '../../env/text-table.ts';
import type { Totals, Violation } from './checker.ts';
import type { Result } from './run.ts';

/** The number of violations listed individually. */
const SHOWN_MAX = 20;

/** How often each fault was injected and how long its slowest recovery took, then the totals, then the violations. */
export function renderReport(store: string, { outcomes, totals, violations }: Result): string {
  const faults = Map.groupBy(outcomes, ({ schedule }) => schedule.fault);
  const rows = [...faults].sort().map(([fault, those]) => {
    const [slowest] = those.toSorted((less, more) => more.recoveryMs - less.recoveryMs);
    const { recoveryMs = 0, waitedMs = 0 } = slowest ?? {};
    return [fault, String(those.length), seconds(recoveryMs), seconds(waitedMs)];
  });
  const sum = (read: (one: Totals) => number) => count(totals.reduce((all, one) => all + read(one), 0));
  const codes = (read: (one: Totals) => Readonly<Record<string, number>>) => {
    const all = totals.flatMap((one) => Object.entries(read(one)));
    return [...tally(all)].map(([code, times]) => `${code} ${times}`).join(', ') || 'none';
  };
  const twice = violations.filter(({ what }) => what === 'accepted twice').length;
  return [
    renderTable([[`${store}: fault`, 'schedules', 'slowest recovery', 'of that, no processor'], ...rows]),
    '',
    `${outcomes.length} schedules, ${sum(({ spends }) => spends)} spends, ${sum(({ accepted }) => accepted)} proofs accepted, ${twice} of them twice`,
    `${sum(({ inFlight }) => inFlight)} spends were under way when a fault began`,
    `${sum(({ calm }) => calm)} fresh proofs while nothing was wrong: refused: ${codes((one) => one.refusedWhileCalm)}; without an answer in time: ${codes((one) => one.unavailableWhileCalm)}`,
    ...violations.slice(0, SHOWN_MAX).map(renderViolation),
    ...(violations.length > SHOWN_MAX ? [`… and ${violations.length - SHOWN_MAX} more`] : []),
  ].join('\n');
}

/** The last line of a run, which passed if it begins with PASSED. */
export function renderVerdict(seed: string, results: ReadonlyMap<string, Result>): string {
  const all = [...results.values()];
  const violations = all.flatMap(({ violations }) => violations.map(({ what }) => [what, 1] as const));
  const wrong = [...tally(violations)].map(([what, times]) => `${what} ${times}`);
  const what = wrong.length === 0 ? 'PASSED, exactly once' : `FAILED, ${wrong.join(', ')}`;
  const schedules = all.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
  const spends = all.flatMap(({ totals }) => totals).reduce((sum, totals) => sum + totals.spends, 0);
  return `${what}: ${schedules} schedules, ${count(spends)} spends, ${[...results.keys()].join(', ')}; seed ${seed}`;
}

function renderViolation({ what, schedule, detail }: Violation): string {
  return `! schedule ${schedule}: ${what}: ${detail}`;
}

function tally(entries: readonly (readonly [name: string, times: number])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, times] of entries) sums.set(name, (sums.get(name) ?? 0) + times);
  return sums;
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'never';
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
