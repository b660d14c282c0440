import { renderTable } from '../env/text-table.ts';
import type { Totals, Violation } from './checker.ts';
import type { Result } from './run.ts';

/** The number of violations listed individually. */
export const SHOWN_MAX = 20;

/** How often each fault was injected and how long its slowest recovery took, then the totals, then the violations. */
export function renderReport(store: string, { outcomes, unstaged, totals, violations }: Result): string {
  const faults = [...new Set(outcomes.map(({ schedule }) => schedule.fault))].sort();
  const rows = faults.map((fault) => {
    const those = outcomes.filter(({ schedule }) => schedule.fault === fault);
    const [slowest] = [...those].sort((less, more) => more.recoveryMs - less.recoveryMs);
    const { recoveryMs = 0, waitedMs = 0 } = slowest ?? {};
    return [fault, String(those.length), seconds(recoveryMs), seconds(waitedMs)];
  });
  const sum = sumOf(totals);
  const twice = violations.filter(({ what }) => what === 'accepted twice').length;
  const lines = [
    renderTable([[`${store}: fault`, 'schedules', 'slowest recovery', 'of that, no processor'], ...rows]),
    '',
    `${outcomes.length} schedules, ${count(sum.spends)} spends, ${count(sum.accepted)} proofs accepted, ${twice} of them twice`,
    `${count(sum.inFlight)} spends were under way when a fault began`,
    `${count(sum.calm)} fresh proofs while nothing was wrong: ${said(sum.refusedWhileCalm)} refused, ${said(sum.unavailableWhileCalm)} without an answer in time`,
    ...unstaged.map(
      ({ schedule, why }) => `not staged: schedule ${schedule.number}, ${schedule.fault}: ${why}`,
    ),
    ...violations.slice(0, SHOWN_MAX).map(renderViolation),
    ...(violations.length > SHOWN_MAX ? [`… and ${violations.length - SHOWN_MAX} more`] : []),
  ];
  return lines.join('\n');
}

/** A row per store. */
export function renderSummary(results: ReadonlyMap<string, Result>): string {
  const rows = [...results].map(([store, { planned, outcomes, totals, violations }]) => {
    const { spends, accepted, inFlight } = sumOf(totals);
    const twice = violations.filter(({ what }) => what === 'accepted twice').length;
    const slowestMs = Math.max(0, ...outcomes.map(({ recoveryMs }) => recoveryMs));
    const staged = outcomes.length < planned ? `${outcomes.length} of ${planned}` : `${outcomes.length}`;
    const sums = [spends, inFlight, accepted, twice, violations.length - twice].map(count);
    return [store, staged, ...sums, seconds(slowestMs)];
  });
  const head = 'store,schedules,spends,under way at a fault,accepted,twice,other violations,slowest recovery';
  return renderTable([head.split(','), ...rows]);
}

/** The last line of a run. */
export function renderVerdict(
  seed: string,
  results: ReadonlyMap<string, Result>,
  twiceOnClocks: number,
): string {
  const all = [...results.values()];
  const schedules = all.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
  const { spends } = sumOf(all.flatMap(({ totals }) => totals));
  const idle = [...results].filter(([, { outcomes }]) => outcomes.length === 0).map(([store]) => store);
  const wrong = [
    ...Object.entries(tally(all.flatMap(({ violations }) => violations))).map(
      ([what, times]) => `${what} ${times}`,
    ),
    ...(twiceOnClocks > 0 ? [`accepted twice while clocks stepped ${twiceOnClocks}`] : []),
    ...(idle.length > 0 ? [`nothing staged for ${idle.join(', ')}`] : []),
  ];
  const what = wrong.length === 0 ? 'PASSED, exactly once' : `FAILED, ${wrong.join(', ')}`;
  const unstaged = all.reduce((sum, result) => sum + result.unstaged.length, 0);
  const left = all.reduce((sum, { planned }) => sum + planned, 0) - schedules - unstaged;
  const cut = [
    ...(unstaged > 0 ? [` (${unstaged} could not be staged)`] : []),
    ...(left > 0 ? [` (time was up before ${left} more)`] : []),
  ].join('');
  return `${what}: ${schedules} schedules${cut}, ${count(spends)} spends, ${[...results.keys()].join(', ')}; seed ${seed}`;
}

function tally(violations: readonly Violation[]): Record<string, number> {
  const times: Record<string, number> = {};
  for (const { what } of violations) times[what] = (times[what] ?? 0) + 1;
  return times;
}

export function renderViolation({ what, schedule, detail }: Violation): string {
  return `! schedule ${schedule}: ${what}: ${detail}`;
}

function sumOf(totals: readonly Totals[]): Totals {
  const add = (pick: (one: Totals) => number): number => totals.reduce((sum, one) => sum + pick(one), 0);
  const merge = (pick: (one: Totals) => Readonly<Record<string, number>>): Record<string, number> => {
    const merged: Record<string, number> = {};
    for (const one of totals) {
      for (const [code, times] of Object.entries(pick(one))) merged[code] = (merged[code] ?? 0) + times;
    }
    return merged;
  };
  return {
    spends: add(({ spends }) => spends),
    accepted: add(({ accepted }) => accepted),
    inFlight: add(({ inFlight }) => inFlight),
    calm: add(({ calm }) => calm),
    refusedWhileCalm: merge(({ refusedWhileCalm }) => refusedWhileCalm),
    unavailableWhileCalm: merge(({ unavailableWhileCalm }) => unavailableWhileCalm),
  };
}

function said(codes: Readonly<Record<string, number>>): string {
  const entries = Object.entries(codes);
  const total = entries.reduce((sum, [, times]) => sum + times, 0);
  if (total === 0) return '0';
  return `${count(total)} (${entries.map(([code, times]) => `${code} ${times}`).join(', ')})`;
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'never';
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
