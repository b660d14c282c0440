import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type Break, breakLibrary, LIBRARY } from './library.ts';
import { SETTINGS } from './repertoire.ts';
import { type RunOptions, runSchedules } from './run.ts';

/** The machine may be busy, so a late recovery does not fail this test. A missing one does. */
const LIMITS = {
  seed: 'ci',
  callers: 2,
  adversaries: 2,
  recoveryMsMax: 40_000,
} as const;

const FAULTS = [
  'killed, with AOF',
  'killed, old file',
  'lagging replica promoted',
  'verifier killed',
  'SWAPDB',
];

const CLOCK_FAULT = 'time passes, then the clock goes back';

test.concurrent('no proof is accepted twice under any fault, and fresh ones are accepted afterwards', async () => {
  const { outcomes, totals, violations } = await runSchedules({
    ...LIMITS,
    settings: [...SETTINGS.redis.slice(0, 3), SETTINGS.memory[0]],
    library: LIBRARY,
    faults: [...FAULTS, CLOCK_FAULT],
    schedules: 6,
  });
  console.log(totals);
  expect(violations.filter(({ what }) => what !== 'late on a busy machine')).toEqual([]);
  expect(outcomes.map(({ schedule }) => schedule.fault).sort()).toEqual([...FAULTS, CLOCK_FAULT].sort());
  for (const { spends, accepted } of totals) expect(spends).toBeGreaterThan(accepted);
}, 120_000);

test.concurrent('npm run faults runs a schedule of PostgreSQL', async () => {
  const words = ['--store', 'postgres', '--fault', 'settings changed', '--schedules', '1', '--seed', 'ci'];
  const main = join(import.meta.dirname, 'main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...words]);
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^PASSED/);
}, 120_000);

const WITHOUT_FENCE: Break = ['replay/redis/scripts.ts', 'if timestamp <= bound then', 'if false then'];
const WITHOUT_BIRTH: Break = ['replay/memory/store.ts', 'if (timestamp <= bound)', 'if (false)'];

test.each([
  ['the fence of the Redis store', WITHOUT_FENCE, SETTINGS.redis[0], 'FLUSHALL'],
  ['the fence of the memory store', WITHOUT_BIRTH, SETTINGS.memory[0], 'verifier killed'],
] as const)(
  'detects a library without a guard: %s',
  async (_, guard, setting, fault) => {
    await using broken = await breakLibrary(guard);
    const options: RunOptions = { ...LIMITS, settings: [setting], library: broken.folder, schedules: 4 };
    const { violations } = await runSchedules({ ...options, faults: [fault], stopsAtFirst: true });
    expect(violations.map(({ what }) => what)).toContain('accepted twice');
  },
  120_000,
);
