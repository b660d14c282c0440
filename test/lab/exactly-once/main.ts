import { renderTable } from '../../env/text-table.ts';
import { ANSWER_STORES, cutAnswers } from './answers.ts';
import { type RunArguments, readArguments, USAGE, VARIANT_SCHEDULES_MAX } from './arguments.ts';
import { isLateness } from './checker.ts';
import { spendOnSteppingClocks } from './clocks.ts';
import { showProgress } from './progress.ts';
import { ROUNDS, SCHEDULES_MIN, SETTINGS } from './repertoire.ts';
import { renderReport, renderVerdict, SHOWN_MAX } from './report.ts';
import { type Result, runSchedules } from './run.ts';
import { breakLibrary, LIBRARY, VARIANTS } from './variants.ts';

// `npm run faults`: injects faults into the real stores and replays every proof. The last line and the exit status are the verdict.
const PARTIES = { callers: 4, adversaries: 4 } as const;

try {
  const asked = readArguments(process.argv.slice(2));
  if (asked === undefined) console.log(USAGE);
  else {
    const isGood = await judge(asked);
    process.exitCode = isGood ? 0 : 1;
  }
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\nSee npm run faults -- --help.`);
  process.exitCode = 2;
}

async function judge(asked: RunArguments): Promise<boolean> {
  if (asked.variant !== undefined) return judgeVariants(asked);
  console.log(`seed ${asked.seed}`);
  if (asked.answers !== undefined) return judgeAnswers(asked.answers, asked.seed);
  const twice = await stepClocks(asked);
  if (!asked.clocksOnly) return judgeStores(asked, twice);
  console.log(`${twice === 0 ? 'PASSED' : 'FAILED'}, ${twice} accepted twice; seed ${asked.seed}`);
  return twice === 0;
}

/** True if no call ran twice, stayed unanswered or got a wrong answer. */
async function judgeAnswers(calls: number, seed: string): Promise<boolean> {
  let faults = 0;
  for (const store of ANSWER_STORES) {
    const { cut, killed } = await cutAnswers(store, { calls, kills: 25, seed });
    for (const tally of [cut, killed]) {
      console.log(`${store}: ${Object.entries(tally).flat().join(' ')}`);
      faults += tally.twice + tally.unanswered + tally.wrong + tally.told;
    }
    faults += cut.lost;
  }
  console.log(`${faults === 0 ? 'PASSED' : 'FAILED'}; seed ${seed}`);
  return faults === 0;
}

/** The number of proofs that were accepted twice while clocks stepped. */
async function stepClocks({ clocks, seed }: RunArguments): Promise<number> {
  let sum = 0;
  for (const [store, count] of clocks) {
    const run = await spendOnSteppingClocks(store, LIBRARY, count, seed);
    const { spends, proofs, accepted, steps, twice } = run;
    const what = `${spends} spends of ${proofs} proofs, ${steps} steps of the clocks`;
    console.log(`${store}: ${what}, ${accepted} accepted, ${twice} of them twice`);
    sum += twice;
  }
  return sum;
}

/** True if no store violated a guarantee. */
async function judgeStores(asked: RunArguments, twiceOnClocks: number): Promise<boolean> {
  const { stores, seed, schedules, quick, minutes, faults } = asked;
  const endsAtMs = Date.now() + minutes * 60_000;
  const results = new Map<string, Result>();
  for (const [index, store] of stores.entries()) {
    const shareEndsAtMs = Date.now() + (endsAtMs - Date.now()) / (stores.length - index);
    const result = await runSchedules({
      settings: SETTINGS[store],
      seed,
      schedules:
        schedules ?? (quick ? { rounds: 1, atLeast: 0 } : { rounds: ROUNDS, atLeast: SCHEDULES_MIN[store] }),
      endsAtMs: shareEndsAtMs,
      library: LIBRARY,
      faults,
      ...PARTIES,
      progress: showProgress(store, shareEndsAtMs, SHOWN_MAX),
    });
    results.set(store, result);
    console.log(`\n${renderReport(store, result)}\n`);
  }
  const verdict = renderVerdict(seed, results, twiceOnClocks);
  console.log(verdict);
  return verdict.startsWith('PASSED');
}

/** True if every broken guard was detected. */
async function judgeVariants({ variant, seed, minutes, schedules }: RunArguments): Promise<boolean> {
  const names = variant === 'all' ? Object.keys(VARIANTS) : (variant ?? '').split(',');
  const rows: string[][] = [];
  let missed = 0;
  console.log(`seed ${seed}`);
  for (const name of names) {
    const variant = VARIANTS[name];
    if (!variant) throw new TypeError(`no variant ${name}`);
    await using broken = await breakLibrary(name);
    const endsAtMs = Date.now() + minutes * 60_000;
    const { outcomes, violations } = await runSchedules({
      ...PARTIES,
      seed,
      endsAtMs,
      library: broken.folder,
      faults: variant.faults,
      settings: SETTINGS[variant.store],
      schedules: Math.min(schedules ?? VARIANT_SCHEDULES_MAX, VARIANT_SCHEDULES_MAX),
      stopsAtFirst: true,
      // A late recovery does not indicate a broken guard.
      recoveryMsMax: 40_000,
      progress: showProgress(name, endsAtMs, 0),
    });
    const first = violations.find((violation) => !isLateness(violation));
    if (!first) missed += 1;
    const found = first ? `${outcomes.length}` : `NOT in ${outcomes.length}`;
    rows.push([name, found, first?.what ?? '', variant.guard]);
    console.log(`${name}: ${first ? `caught: ${first.what}: ${first.detail}` : 'NOT caught'}\n`);
  }
  console.log(`${renderTable([['variant', 'schedules until caught', 'by', 'broken guard'], ...rows])}\n`);
  const sum = `${names.length - missed} of ${names.length} broken guards caught`;
  console.log(`${missed === 0 ? 'PASSED' : 'FAILED'}, ${sum}; seed ${seed}`);
  return missed === 0;
}
