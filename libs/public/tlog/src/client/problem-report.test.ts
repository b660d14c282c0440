import { expect, it } from 'vitest';
import { createProblemReport } from './problem-report.ts';

function open(onProblem: (kind: string) => void = () => undefined) {
  let now = 1000;
  const told: string[] = [];
  const { report, recover } = createProblemReport<{ kind: string }>({
    onProblem({ kind }) {
      told.push(`${now - 1000} ${kind}`);
      onProblem(kind);
    },
    limitSeconds: 60,
    seconds: () => now,
  });
  return {
    told,
    recover,
    report(kind: string, at: number): void {
      now = 1000 + at;
      report({ kind });
    },
  };
}

it('reports a problem at once, and again each limit while it lasts', () => {
  const { told, report } = open();
  for (const at of [0, 1, 59, 60, 61, 119, 120]) report('behind', at);
  expect(told).toEqual(['0 behind', '60 behind', '120 behind']);
});

it('reports another problem at once', () => {
  const { told, report } = open();
  for (const [at, kind] of ['behind', 'untrusted', 'untrusted', 'behind'].entries()) report(kind, at);
  expect(told).toEqual(['0 behind', '1 untrusted', '3 behind']);
});

it('says once that a problem is over, and reports it at once if it comes back', () => {
  const { told, report, recover } = open();
  recover();
  report('behind', 0);
  recover();
  recover();
  report('behind', 1);
  expect(told).toEqual(['0 behind', '0 recovered', '1 behind']);
});

it('ignores what a listener throws', () => {
  const { told, report, recover } = open(() => {
    throw new Error('from the listener');
  });
  report('behind', 0);
  recover();
  expect(told).toEqual(['0 behind', '0 recovered']);
});
