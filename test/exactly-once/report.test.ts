import { expect, test } from 'vitest';
import type { Violation } from './checker.ts';
import { renderReport, renderSummary, renderVerdict } from './report.ts';
import type { Result } from './run.ts';

const TOTALS = {
  ...{ spends: 1234, accepted: 500, inFlight: 7, calm: 300 },
  ...{ refusedWhileCalm: {}, unavailableWhileCalm: {} },
};

/** The result of a run that finished one of `planned` schedules. */
function result(violations: readonly Violation['what'][] = [], planned = 1): Result {
  const schedule = { number: 0, lane: 'memory-1', fault: 'FLUSHALL', calmMs: 1 };
  return {
    planned,
    outcomes: [{ schedule, recoveryMs: 2100, waitedMs: 40 }],
    unstaged: [],
    totals: [TOTALS],
    violations: violations.map((what) => ({ what, schedule: 0, detail: 'x' })),
  };
}

const verdict = (one: Result, twiceOnClocks = 0) =>
  renderVerdict('s', new Map([['memory', one]]), twiceOnClocks);

test('the last line reports success and the number of proofs', () => {
  expect(verdict(result())).toBe('PASSED, exactly once: 1 schedules, 1,234 spends, memory; seed s');
});

test('the last line reports that the time limit was reached', () => {
  expect(verdict(result([], 4))).toMatch(/^PASSED.*1 schedules \(time was up before 3 more\)/);
});

test('a fault that could not be injected is reported with its reason', () => {
  const { outcomes, ...rest } = result([], 2);
  const schedule = { number: 1, lane: 'memory-1', fault: 'SWAPDB', calmMs: 1 };
  const one: Result = { ...rest, outcomes, unstaged: [{ schedule, why: 'nobody there' }] };
  expect(verdict(one)).toMatch(/^PASSED.*1 schedules \(1 could not be staged\),/);
  expect(renderReport('memory', one)).toContain('not staged: schedule 1, SWAPDB: nobody there');
});

test('the last line fails a run and names each kind of violation with its number', () => {
  const words = ['accepted twice', 'late on a busy machine', 'accepted twice'] as const;
  expect(verdict(result(words))).toMatch(/^FAILED, accepted twice 2, late on a busy machine 1:/);
  expect(verdict({ ...result(), outcomes: [] })).toMatch(/^FAILED, nothing staged for memory:/);
  expect(verdict(result(), 1)).toMatch(/^FAILED, accepted twice while clocks stepped 1:/);
});

test('the tables show each fault, the time spent waiting for a processor, and what was accepted twice', () => {
  expect(renderReport('memory', result())).toMatch(/FLUSHALL +1 +2\.1 s +0\.0 s/);
  const rows = renderSummary(new Map([['memory', result(['accepted twice', 'no recovery in time'], 2)]]));
  expect(rows).toMatch(/memory +1 of 2 +1,234 +7 +500 +1 +1 +2\.1 s/);
});
