import { ANSWER_STORES, cutAnswers } from '../../wings/exactly-once/answers.ts';
import { type RunArguments, readArguments, USAGE } from './arguments.ts';
import { LIBRARY } from './library.ts';
import { ROUNDS, SCHEDULES_MIN, SETTINGS } from './repertoire.ts';
import { renderReport, renderVerdict } from './report.ts';
import { type Done, type Result, runSchedules } from './run.ts';
import { SOAKED, soak } from './soak.ts';

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
  console.log(`seed ${asked.seed}`);
  if (asked.answers !== undefined) return judgeAnswers(asked.answers, asked.seed);
  if (asked.soak !== undefined) return judgeSoak(asked.soak, asked);
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

/** True if no proof was accepted twice and every outage was short. */
async function judgeSoak(minutes: number, { stores, seed }: RunArguments): Promise<boolean> {
  const soaked = stores.filter((store) => store !== 'memory').map((store) => SOAKED[store]);
  const done = await Promise.all(soaked.map((one) => soak(one, { minutes, seed, say: console.log })));
  const isGood = done.every((one) => one);
  console.log(`${isGood ? 'PASSED' : 'FAILED'}; seed ${seed}`);
  return isGood;
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
