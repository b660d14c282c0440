import { expect, test } from 'vitest';
import { createChecker, judgeRecovery, type Stages } from './checker.ts';
import type { Presentation } from './history.ts';

const STAGES: Stages = {
  schedule: 0,
  calmFromMs: 0,
  faultFromMs: 1000,
  faultUntilMs: 2000,
  recoveredMs: 3000,
  overMs: 4000,
  unsafe: [],
};

/** Judges presentations by two processes, `a` and `b`, in one schedule. */
function judge(
  presentations: readonly (Partial<Presentation> & { by?: string })[],
  stages: Partial<Stages> = {},
) {
  const checker = createChecker();
  for (const { by = 'a', ...presentation } of presentations) {
    const whole = { kind: 'fresh', id: 'p1', verdict: 'accepted', sentMs: 500, answeredMs: 501 } as const;
    checker.see(by, { ...whole, ...presentation }, 0);
  }
  checker.conclude({ ...STAGES, ...stages });
  checker.close();
  return { what: checker.violations.map(({ what }) => what), totals: checker.totals() };
}

test('finds a second acceptance schedules later', () => {
  const checker = createChecker();
  const accepted = { kind: 'fresh', id: 'p1', verdict: 'accepted', sentMs: 1, answeredMs: 2 } as const;
  checker.see('a', accepted, 0);
  checker.conclude(STAGES);
  checker.see('a', { ...accepted, kind: 'replay' }, 7);
  expect(checker.violations).toMatchObject([{ what: 'accepted twice', schedule: 7 }]);
});

test('finds an accepted forgery', () => {
  expect(judge([{ kind: 'forged' }]).what).toEqual(['accepted a forged proof']);
});

test('finds only what a verifier accepted although its store was unsafe throughout', () => {
  const unsafe = [{ verifier: 'a', fromMs: 1200, untilMs: 1800 }];
  const at = (sentMs: number, answeredMs: number, by = 'a') =>
    judge([{ by, sentMs, answeredMs }], { unsafe }).what;
  expect(at(1300, 1301)).toEqual(['accepted while the store is unsafe']);
  expect(at(1300, 1301, 'b')).toEqual([]);
  expect(at(1100, 1301)).toEqual([]);
  expect(at(1700, 1801)).toEqual([]);
});

test.each(['proof_before_fence', 'proof_expired', 'nonce_replayed'])(
  'finds a fresh proof that was refused without a fault: %s',
  (verdict) => {
    const refused = judge([{ verdict }]);
    expect(refused.what).toEqual(['refused a fresh proof without a fault']);
    expect(refused.totals).toMatchObject({ calm: 1, refusedWhileCalm: { [verdict]: 1 } });
    expect(judge([{ verdict, kind: 'ahead', sentMs: 3500, answeredMs: 3501 }]).what).toHaveLength(1);
  },
);

test('does not blame a refusal during a fault, before the recovery, or of a replay', () => {
  const verdict = 'proof_before_fence';
  expect(judge([{ verdict, sentMs: 1500, answeredMs: 1501 }]).what).toEqual([]);
  expect(judge([{ verdict, sentMs: 2500, answeredMs: 2501 }]).what).toEqual([]);
  expect(judge([{ verdict, sentMs: 999, answeredMs: 1001 }]).what).toEqual([]);
  expect(judge([{ verdict, kind: 'replay' }]).what).toEqual([]);
});

test('accepts the refusal of a proof whose copy was spent first, or may have been', () => {
  const slower = { verdict: 'nonce_replayed' };
  expect(judge([slower, { by: 'b', kind: 'replay' }]).what).toEqual([]);
  expect(judge([slower, { by: 'b', kind: 'replay', verdict: 'replay_store_unavailable' }]).what).toEqual([]);
});

test('counts presentations without a timely answer separately from refusals', () => {
  const { what, totals } = judge([{ verdict: 'replay_store_unavailable' }]);
  expect(what).toEqual([]);
  expect(totals.unavailableWhileCalm).toEqual({ replay_store_unavailable: 1 });
});

test('counts the spends that were in flight when the fault began', () => {
  const spans = [
    [900, 1001],
    [1000, 1000],
    [1001, 1002],
    [1, 999],
  ] as const;
  const presentations = spans.map(([sentMs, answeredMs], index) => ({ id: `p${index}`, sentMs, answeredMs }));
  expect(judge(presentations).totals).toMatchObject({ spends: 4, accepted: 4, inFlight: 2 });
});

test('a recovery is late by wall-clock time, whatever the reason', () => {
  const judged = (recoveryMs: number, waitedMs: number) => judgeRecovery({ recoveryMs, waitedMs }, 5000);
  expect(judged(5000, 0)).toBeUndefined();
  expect(judged(5001, 0)).toBe('no recovery in time');
  expect(judged(8000, 4000)).toBe('no recovery in time');
  expect(judged(8000, 4001)).toBe('late on a busy machine');
  expect(judged(Number.POSITIVE_INFINITY, 40_000)).toBe('no recovery in time');
});
