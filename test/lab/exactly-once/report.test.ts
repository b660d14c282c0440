import { expect, test } from 'vitest';
import type { Violation } from './checker.ts';
import { renderVerdict } from './report.ts';
import type { Result } from './run.ts';

const SCHEDULE = { number: 0, lane: 'memory-1', fault: 'FLUSHALL', calmMs: 1 };
const TOTALS = { spends: 1234, accepted: 500, inFlight: 7, calm: 300 };
const GOOD: Result = {
  planned: 1,
  outcomes: [{ schedule: SCHEDULE, recoveryMs: 2100, waitedMs: 40 }],
  unstaged: [],
  totals: [{ ...TOTALS, refusedWhileCalm: {}, unavailableWhileCalm: {} }],
  violations: [],
};
const violations = (...found: Violation['what'][]) =>
  found.map((what) => ({ what, schedule: 0, detail: 'x' }));

test.each<[verdict: RegExp, result: Partial<Result>, twiceOnClocks?: number]>([
  [/^PASSED, exactly once: 1 schedules, 1,234 spends, memory; seed s$/, {}],
  [/^PASSED.*1 schedules \(time was up before 3 more\)/, { planned: 4 }],
  [
    /^PASSED.*1 schedules \(1 could not be staged\),/,
    { planned: 2, unstaged: [{ schedule: SCHEDULE, why: 'nobody there' }] },
  ],
  [
    /^FAILED, accepted twice 2, late on a busy machine 1:/,
    { violations: violations('accepted twice', 'late on a busy machine', 'accepted twice') },
  ],
  [/^FAILED, nothing staged for memory:/, { outcomes: [] }],
  [/^FAILED, accepted twice while clocks stepped 1:/, {}, 1],
])('the last line of a run says %s', (verdict, result, twiceOnClocks = 0) => {
  expect(renderVerdict('s', new Map([['memory', { ...GOOD, ...result }]]), twiceOnClocks)).toMatch(verdict);
});
