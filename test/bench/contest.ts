import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pin } from './process-cost.ts';
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
  const sides = await Promise.all(
    titles.map(async (title) => ({ title, slice: 4, worker: stack.use(await openWorker(name, title)) })),
  );
  const measured = Object.fromEntries(titles.map((title) => [title, []])) as unknown as Record<
    Title,
    number[]
  >;
  for (let round = 0; round <= bench.rounds; round++) {
    if (round > 0) bench.progress(`round ${round} of ${bench.rounds}`);
    const spent = sides.map(() => ({ done: 0, took: 0 }));
    while (spent.some(({ took }) => took < bench.load.seconds / 2)) {
      for (const [index, side] of sides.entries()) {
        const own = spent[index] as { done: number; took: number };
        own.took += await side.worker.time(side.slice);
        own.done += side.slice;
        side.slice = Math.max(1, Math.round((SLICE_SECONDS * own.done) / own.took));
      }
    }
    // The first round is a warm-up.
    if (round === 0) continue;
    for (const [index, { title }] of sides.entries()) {
      const { done, took } = spent[index] as { done: number; took: number };
      measured[title].push(done / took);
    }
  }
  return measured;
}

interface Worker extends AsyncDisposable {
  /** CPU seconds for `count` pieces. */
  time(count: number): Promise<number>;
}

async function openWorker(name: string, title: string): Promise<Worker> {
  const child = fork(join(import.meta.dirname, 'contest-process.ts'), [name, title], {
    execArgv: ['--expose-gc'],
  });
  if (child.pid !== undefined) pin(child.pid, 'servers');
  return {
    async time(count) {
      const { seconds, failure } = await ask(child, count);
      if (seconds === undefined) throw new Error(`${title}: ${failure}`);
      return seconds;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
    },
  };
}

async function ask(child: ChildProcess, count: number): Promise<{ seconds?: number; failure?: string }> {
  const answered = once(child, 'message');
  child.send(count);
  const [answer] = await answered;
  return answer;
}
