import { expect, it } from 'vitest';
import type { LogClient } from './log-client.ts';
import { COMPLETE, createMonitor } from './monitor.ts';

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
