import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pin } from './process-cost.ts';
import type { Bench } from './row.ts';

/** One way to do what is compared. */
export interface Contestant {
  /** Untimed: gets `count` pieces of work ready. What it returns does them, and throws unless each was done. */
  prepare(count: number): Promise<() => Promise<void>>;
  /** Once, before anything is measured: throws unless the contestant tells good work from bad. */
  check(): Promise<void>;
}

/** What a module under `contests/` exports. Each contestant is opened in a process of its own. */
export type Contestants = Readonly<Record<string, () => Contestant | Promise<Contestant>>>;

const SLICE_SECONDS = 0.02;

/**
 * Runs the contestants of `contests/<name>.ts` against each other, each a process, all on one core, one piece after the other.
 * Within a round they take turns every few milliseconds, so that whatever else the machine does meets all alike.
 * @returns pieces of work in a CPU second, by round
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
    // The first one only made them hot.
    if (round === 0) continue;
    for (const [index, { title }] of sides.entries()) {
      const { done, took } = spent[index] as { done: number; took: number };
      measured[title].push(done / took);
    }
  }
  return measured;
}

interface Worker extends AsyncDisposable {
  /** CPU seconds that so many pieces took. */
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
