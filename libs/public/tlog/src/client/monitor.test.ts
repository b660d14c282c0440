import { expect, it } from 'vitest';
import { COMPLETE } from '../policy.ts';
import { TlogError } from '../tlog-error.ts';
import type { LogClient } from './log-client.ts';
import { createMonitor } from './monitor.ts';

/** A monitor of a log without leaves that claims to be complete up to a given time. */
function openMonitor() {
  let completeAt = 0;
  const missing: string[] = [];
  const head = () => ({
    ...{ origin: 'log.example/log', size: 0, root: new Uint8Array(32), note: '' },
    witnessed: new Map([[COMPLETE, completeAt]]),
  });
  const client: LogClient = {
    latest: async () => head(),
    lookup: async () => new Map(),
    prove: async () => [],
    bundle: async () => [],
  };
  const monitor = createMonitor<{ version: 2; id: string }>({
    client,
    onMissing: ({ id }) => void missing.push(id),
    onProblem: () => undefined,
    now: () => 1_000_000,
    clockToleranceSeconds: 5,
    everyMs: 3_600_000,
  });
  monitor.accepted({ version: 2, id: 'one' }, '00'.repeat(32));
  return {
    missing,
    /** Checks under a checkpoint that is complete up to so many seconds after the proof was accepted. */
    async check(secondsAfter: number): Promise<void> {
      completeAt = 1000 + secondsAfter;
      await monitor.check();
    },
  };
}

it('reports no proof that was accepted after the time up to which the log is complete, clocks allowed for', async () => {
  const { check, missing } = openMonitor();
  for (const seconds of [-60, 0, 4, 5]) await check(seconds);
  expect(missing).toEqual([]);
});

it('reports a missing proof at the second checkpoint that is complete without it, once', async () => {
  const { check, missing } = openMonitor();
  await check(6);
  await check(6);
  expect(missing).toEqual([]);
  await check(7);
  await check(8);
  expect(missing).toEqual(['one']);
});

it('judges each proof alone, repeats a lasting problem, and says once that it is over', async () => {
  const commitments = ['11', '22'].map((byte) => byte.repeat(32));
  let completeAt = 0;
  let nowMs = 1_000_000;
  let isFaulty = true;
  const [missing, problems]: [string[], string[]] = [[], []];
  const entry = Buffer.concat([Uint8Array.of(1), Buffer.from(commitments[0] ?? '', 'hex'), Buffer.alloc(64)]);
  const client: LogClient = {
    latest: async () => ({
      ...{ origin: 'log.example/log', size: 9, root: new Uint8Array(32), note: '' },
      witnessed: new Map([[COMPLETE, completeAt]]),
    }),
    lookup: async () => new Map([[commitments[0] ?? '', { index: 0, entry }]]),
    async prove() {
      if (isFaulty) throw new TlogError('inclusion_invalid', 'one flipped bit');
      return [];
    },
    bundle: async () => [],
  };
  const monitor = createMonitor<{ version: 2; id: string }>({
    client,
    onMissing: ({ id }) => void missing.push(id),
    onProblem: ({ kind }) => void problems.push(kind),
    now: () => nowMs,
    everyMs: 3_600_000,
  });
  monitor.accepted({ version: 2, id: 'logged' }, commitments[0] ?? '');
  monitor.accepted({ version: 2, id: 'stolen' }, commitments[1] ?? '');
  for (const seconds of [10, 20]) {
    completeAt = 1000 + seconds;
    await monitor.check();
  }
  expect(missing).toEqual(['stolen']);
  expect(problems).toEqual(['untrusted']);
  nowMs += 61_000;
  await monitor.check();
  expect(problems).toEqual(['untrusted', 'untrusted']);
  isFaulty = false;
  await monitor.check();
  await monitor.check();
  expect(problems).toEqual(['untrusted', 'untrusted', 'recovered']);
  await monitor.stop();
});
