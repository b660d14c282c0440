import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChecker, type Totals, type Violation } from './checker.ts';
import { type Lane, type Outcome, openLane } from './lane.ts';
import { createRandom } from './random.ts';
import type { Setting } from './repertoire.ts';
import { planSchedules } from './schedule.ts';

export interface RunOptions {
  readonly settings: readonly Setting[];
  readonly seed: string;
  readonly schedules: number;
  /** Unix milliseconds; no schedule begins later. */
  readonly endsAtMs: number;
  /** Folder of the verifier library's sources. */
  readonly library: string;
  readonly callers: number;
  readonly adversaries: number;
  /** Ends at the first violation that is no late recovery: that is also what a busy machine looks like. */
  readonly stopsAtFirst?: boolean;
  /** The most that a recovery may take. */
  readonly recoveryMsMax?: number;
  /** Stages no other faults. */
  readonly faults?: readonly string[] | undefined;
  readonly progress?: (done: Done) => void;
}

export interface Done extends Outcome {
  readonly lane: string;
  readonly total: Totals;
  readonly violations: readonly Violation[];
}

export interface Result {
  readonly outcomes: readonly Outcome[];
  readonly totals: readonly Totals[];
  readonly violations: readonly Violation[];
}

/** A store that refuses for longer than that once all is well again has not passed. */
const RECOVERY_MS_MAX = 5000;
/** What lanes draw from. */
const TOLERANCES = [1, 1, 2];

/** Opens a lane for every setting and lets each run its share of the schedules, all at the same time. */
export async function runSchedules(options: RunOptions): Promise<Result> {
  const random = createRandom(options.seed);
  const folder = await mkdtemp(join(tmpdir(), 'ori-faults-'));
  const outcomes: Outcome[] = [];
  const worlds = await Promise.all(
    options.settings.map(async (setting) => ({
      setting,
      world: await setting.open({ internId: internIdOf(setting), library: options.library }),
    })),
  );
  const repertoire = Object.fromEntries(
    worlds.map(({ setting, world }) => [
      setting.name,
      Object.keys(world.faults).filter((fault) => options.faults?.includes(fault) ?? true),
    ]),
  );
  const schedules = planSchedules(random.derive('schedules'), repertoire, options.schedules);
  let isOver = false;

  const runLane = async ({ setting, world }: (typeof worlds)[number]) => {
    const checker = createChecker();
    const own = random.derive(setting.name);
    const mine = schedules.filter(({ lane }) => lane === setting.name);
    const laneFolder = join(folder, setting.name);
    await mkdir(laneFolder);
    let lane: Lane | undefined;
    try {
      if (mine.length === 0) return { totals: checker.totals(), violations: [] };
      lane = await openLane({
        name: setting.name,
        internId: internIdOf(setting),
        world,
        checker,
        random: own,
        folder: laneFolder,
        library: options.library,
        verifiers: setting.verifiers,
        callers: options.callers,
        adversaries: options.adversaries,
        recoveryMsMax: options.recoveryMsMax ?? RECOVERY_MS_MAX,
        clockToleranceSeconds: own.pick(TOLERANCES),
      });
      for (const schedule of mine) {
        if (isOver || Date.now() > options.endsAtMs) break;
        const outcome = await lane.run(schedule);
        outcomes.push(outcome);
        const { violations } = checker;
        options.progress?.({ ...outcome, lane: setting.name, total: checker.totals(), violations });
        if (options.stopsAtFirst && violations.some(({ what }) => what !== 'no recovery')) isOver = true;
      }
    } finally {
      await (lane ? lane.close() : world[Symbol.asyncDispose]());
    }
    checker.close();
    return { totals: checker.totals(), violations: checker.violations };
  };

  try {
    const judged = await Promise.all(worlds.map(runLane));
    return {
      outcomes,
      totals: judged.map(({ totals }) => totals),
      violations: judged.flatMap(({ violations }) => violations),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const internIdOf = ({ name }: Setting): string => `int_${name}`;
