import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChecker, isLateness, type Violation } from './checker.ts';
import { type CommonOptions, type Lane, type Outcome, openLane } from './lane.ts';
import { createRandom } from './random.ts';
import type { Setting } from './repertoire.ts';
import { planSchedules } from './schedule.ts';

export interface RunOptions extends CommonOptions {
  readonly settings: readonly Setting[];
  readonly seed: string;
  /** A number of schedules, or how often each fault is injected. */
  readonly schedules: number | { readonly rounds: number; readonly atLeast: number };
  /** Ends at the first violation, except for late recoveries, which a busy machine causes too. */
  readonly stopsAtFirst?: boolean;
  /** Injects only these faults. */
  readonly faults?: readonly string[] | undefined;
  readonly progress?: (done: Done) => void;
}

/** A finished schedule, and the violations of its lane so far. */
export interface Done extends Outcome {
  readonly lane: string;
  readonly done: number;
  readonly planned: number;
  readonly violations: readonly Violation[];
}

/** The values that lanes choose from. */
const TOLERANCES = [1, 1, 2];

/**
 * Opens a lane for every setting and runs its share of the schedules in each, concurrently.
 * @throws TypeError for an unknown fault, and what a fault throws that cannot be injected
 */
export async function runSchedules(options: RunOptions) {
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
  const unknown = options.faults?.filter((fault) => !Object.values(repertoire).flat().includes(fault)) ?? [];
  if (unknown.length > 0) {
    await Promise.all(worlds.map(({ world }) => world[Symbol.asyncDispose]()));
    const known = [...new Set(worlds.flatMap(({ world }) => Object.keys(world.faults)))].sort();
    throw new TypeError(`--fault: no ${unknown.join(', ')} here, but ${known.join('; ')}`);
  }
  const schedules = planSchedules(random.derive('schedules'), repertoire, options.schedules);
  let isOver = false;

  const runLane = async ({ setting, world }: (typeof worlds)[number]) => {
    const checker = createChecker();
    const own = random.derive(setting.name);
    const mine = schedules.filter(({ lane }) => lane === setting.name);
    const laneFolder = join(folder, setting.name);
    await mkdir(laneFolder);
    const enter = (): Promise<Lane> =>
      openLane({
        ...options,
        name: setting.name,
        checker,
        world,
        random: own,
        folder: laneFolder,
        internId: internIdOf(setting),
        verifiers: setting.verifiers,
        clockToleranceSeconds: own.pick(TOLERANCES),
      });
    let lane: Lane | undefined;
    try {
      if (mine.length === 0) return { totals: checker.totals(), violations: [] };
      lane = await enter();
      for (const schedule of mine) {
        if (isOver) break;
        const outcome = await lane.run(schedule);
        outcomes.push(outcome);
        const { violations } = checker;
        options.progress?.({
          ...outcome,
          lane: setting.name,
          done: outcomes.length,
          planned: schedules.length,
          violations,
        });
        if (options.stopsAtFirst && !violations.every(isLateness)) isOver = true;
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

export type Result = Awaited<ReturnType<typeof runSchedules>>;

const internIdOf = ({ name }: Setting): string => `int_${name}`;
