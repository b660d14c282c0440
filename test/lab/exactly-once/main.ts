import { renderTable } from '../../env/text-table.ts';
import { ANSWER_STORES, cutAnswers } from './answers.ts';
import { type RunArguments, readArguments, USAGE, VARIANT_SCHEDULES_MAX } from './arguments.ts';
import { isLateness } from './checker.ts';
import { ROUNDS, SCHEDULES_MIN, SETTINGS } from './repertoire.ts';
import { renderReport, renderVerdict } from './report.ts';
import { type Done, type Result, runSchedules } from './run.ts';
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
  return judgeStores(asked);
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

function showProgress({ lane, schedule, recoveryMs, done, planned, violations }: Done): void {
  const well = Number.isFinite(recoveryMs) ? `well again after ${recoveryMs} ms` : 'NOT well again';
  console.log(`${done}/${planned} ${lane}: ${schedule.fault}: ${well}; ${violations.length} violations`);
}

/** True if no store violated a guarantee. */
async function judgeStores({ stores, seed, schedules, quick, faults }: RunArguments): Promise<boolean> {
  const results = new Map<string, Result>();
  for (const store of stores) {
    const result = await runSchedules({
      settings: SETTINGS[store],
      seed,
      schedules:
        schedules ?? (quick ? { rounds: 1, atLeast: 0 } : { rounds: ROUNDS, atLeast: SCHEDULES_MIN }),
      library: LIBRARY,
      faults,
      ...PARTIES,
      progress: showProgress,
    });
    results.set(store, result);
    console.log(`\n${renderReport(store, result)}\n`);
  }
  const verdict = renderVerdict(seed, results);
  console.log(verdict);
  return verdict.startsWith('PASSED');
}

/** True if every broken guard was detected. */
async function judgeVariants({ variant, seed, schedules }: RunArguments): Promise<boolean> {
  const names = variant === 'all' ? Object.keys(VARIANTS) : (variant ?? '').split(',');
  const rows: string[][] = [];
  let missed = 0;
  console.log(`seed ${seed}`);
  for (const name of names) {
    const variant = VARIANTS[name];
    if (!variant) throw new TypeError(`no variant ${name}`);
    await using broken = await breakLibrary(name);
    const { outcomes, violations } = await runSchedules({
      ...PARTIES,
      seed,
      library: broken.folder,
      faults: variant.faults,
      settings: SETTINGS[variant.store],
      schedules: Math.min(schedules ?? VARIANT_SCHEDULES_MAX, VARIANT_SCHEDULES_MAX),
      stopsAtFirst: true,
      // A late recovery does not indicate a broken guard.
      recoveryMsMax: 40_000,
      progress: showProgress,
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
