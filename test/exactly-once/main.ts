import { type RunArguments, readArguments, USAGE } from './arguments.ts';
import type { Violation } from './checker.ts';
import { SCHEDULES, SETTINGS } from './repertoire.ts';
import { renderReport, renderVerdict, renderViolation, SHOWN_MAX } from './report.ts';
import { type Done, type Result, type RunOptions, runSchedules } from './run.ts';
import { breakLibrary, LIBRARY, VARIANTS } from './variants.ts';

// `npm run faults`: the real stores under faults, with every proof replayed. The last line and the exit status give the verdict.
const PARTIES = { callers: 4, adversaries: 4 } as const;
/** A broken guard that is not caught by then is not caught. */
const VARIANT_SCHEDULES_MAX = 40;

try {
  const asked = readArguments(process.argv.slice(2));
  process.exitCode = (await (asked.variant === undefined ? judgeStores(asked) : judgeVariants(asked)))
    ? 0
    : 1;
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}

/** True when every store did its duty. */
async function judgeStores({ stores, seed, schedules, minutes, faults }: RunArguments): Promise<boolean> {
  const endsAtMs = Date.now() + minutes * 60_000;
  const results = new Map<string, Result>();
  console.log(`seed ${seed}`);
  for (const [index, store] of stores.entries()) {
    const share = (endsAtMs - Date.now()) / (stores.length - index);
    const count = schedules ?? SCHEDULES[store];
    const options = {
      settings: SETTINGS[store],
      seed,
      schedules: count,
      library: LIBRARY,
      faults,
      ...PARTIES,
    };
    const result = await runSchedules({ ...options, endsAtMs: Date.now() + share, progress: showProgress() });
    results.set(store, result);
    console.log(`\n${renderReport(store, result)}\n`);
  }
  console.log(renderVerdict(seed, results));
  return [...results.values()].every(
    ({ violations, outcomes }) => violations.length === 0 && outcomes.length > 0,
  );
}

/** True when every broken guard was caught. */
async function judgeVariants({ variant, seed, minutes, schedules }: RunArguments): Promise<boolean> {
  const names = variant === 'all' ? Object.keys(VARIANTS) : (variant ?? '').split(',');
  let missed = 0;
  console.log(`seed ${seed}`);
  for (const name of names) {
    const { outcomes, violations } = await runVariant(name, {
      seed,
      schedules: Math.min(schedules ?? VARIANT_SCHEDULES_MAX, VARIANT_SCHEDULES_MAX),
      endsAtMs: Date.now() + minutes * 60_000,
    });
    const first = violations.find(({ what }) => what !== 'no recovery');
    if (!first) missed += 1;
    const found = first
      ? `caught after ${outcomes.length} schedules: ${first.what}: ${first.detail}`
      : `NOT caught in ${outcomes.length} schedules`;
    console.log(`${name} (${VARIANTS[name]?.guard}): ${found}`);
  }
  console.log(`${names.length - missed} of ${names.length} broken guards caught; seed ${seed}`);
  return missed === 0;
}

async function runVariant(
  name: string,
  limits: Pick<RunOptions, 'seed' | 'schedules' | 'endsAtMs'>,
): Promise<Result> {
  const variant = VARIANTS[name];
  if (!variant) throw new TypeError(`no variant ${name}`);
  await using broken = await breakLibrary(name);
  const { store, faults } = variant;
  const settings = SETTINGS[store];
  return await runSchedules({
    settings,
    library: broken.folder,
    faults,
    stopsAtFirst: true,
    // A late recovery is no sign of a broken guard.
    recoveryMsMax: 40_000,
    ...PARTIES,
    ...limits,
  });
}

/** A line per schedule. */
function showProgress(): (done: Done) => void {
  let done = 0;
  const shown = new Set<Violation>();
  return ({ lane, schedule, recoveryMs, total, violations }) => {
    done += 1;
    const what = `${lane} ${schedule.number} ${schedule.fault}`;
    console.log(`${done}: ${what}: well again after ${Math.round(recoveryMs)} ms, ${total.spends} spends`);
    for (const violation of violations.slice(0, SHOWN_MAX)) {
      if (!shown.has(violation)) console.log(renderViolation(violation));
      shown.add(violation);
    }
  };
}
