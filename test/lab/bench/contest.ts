import assert from 'node:assert/strict';
import { startWorker } from './processes.ts';
import type { Bench } from './row.ts';

/** One implementation of the compared task. */
export interface Contestant {
  /** Prepares `count` pieces of work, untimed. The returned function does them, and throws if one fails. */
  prepare(count: number): Promise<() => Promise<void>>;
  /** Called once before measuring: throws unless the contestant refuses invalid input. */
  check(): Promise<void>;
}

/** The exports of a module under `contests/`. Each contestant runs in its own process. */
export type Contestants = Readonly<Record<string, () => Contestant | Promise<Contestant>>>;

/**
 * A contestant that judges inputs made beforehand.
 *
 * @param judge throws if it refuses the input
 * @param bad what it must refuse, made of an input that it has accepted and of another one
 */
export function judging<Input>(
  create: () => Input | Promise<Input>,
  judge: (input: Input) => unknown,
  bad: (accepted: Input, other: Input) => readonly Input[],
): Contestant {
  return {
    async prepare(count) {
      const inputs = await Promise.all(Array.from({ length: count }, create));
      return async () => {
        for (const input of inputs) await judge(input);
      };
    },
    async check() {
      const [accepted, other] = [await create(), await create()];
      await judge(accepted);
      for (const input of bad(accepted, other)) {
        await assert.rejects(async () => judge(input), 'bad input was accepted');
      }
    },
  };
}

const SLICE_SECONDS = 0.02;

/**
 * Runs the contestants of `contests/<name>.ts`, each in its own process, all on one core, one piece of work at a time.
 * Within a round they alternate every few milliseconds, so that other load on the machine affects all alike.
 * @returns pieces of work per CPU second, by round
 */
export async function runContest<Title extends string>(
  bench: Bench,
  name: string,
  titles: readonly Title[],
): Promise<Record<Title, number[]>> {
  await using stack = new AsyncDisposableStack();
  bench.progress('warming up');
  const sides = titles.map((title) => {
    const worker = startWorker<number, number>('contest-process.ts', 'servers', [name, title]);
    return { worker: stack.use(worker), slice: 4, done: 0, took: 0, perSecond: [] as number[] };
  });
  for (let round = 0; round <= bench.rounds; round++) {
    if (round > 0) bench.progress(`round ${round} of ${bench.rounds}`);
    for (const side of sides) Object.assign(side, { done: 0, took: 0 });
    while (sides.some(({ took }) => took < bench.load.seconds / 2)) {
      for (const side of sides) {
        side.took += await side.worker.ask(side.slice);
        side.done += side.slice;
        side.slice = Math.max(1, Math.round((SLICE_SECONDS * side.done) / side.took));
      }
    }
    // The first round is a warm-up.
    if (round > 0) for (const { perSecond, done, took } of sides) perSecond.push(done / took);
  }
  const entries = titles.map((title, index) => [title, sides[index]?.perSecond]);
  return Object.fromEntries(entries) as Record<Title, number[]>;
}
