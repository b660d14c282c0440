import { type Budget, BusyError } from './busy-error.ts';

export interface FairSemaphoreOptions {
  /** The name of the budget in the metrics. */
  readonly budget: Budget;
  /** The name of the budget for the queue of one key. Default: the same. */
  readonly budgetPerKey?: Budget;
  readonly permits: number;
  /** The maximum for one key. Default: all of them. */
  readonly permitsPerKey?: number;
  /** How many may wait: for one key, and in total. */
  readonly waitingPerKeyMax: number;
  readonly waitingMax: number;
}

/** Ends a wait, like a request's deadline. The signal is read only if there is a wait. */
export interface Waiter {
  readonly signal: AbortSignal;
}

/**
 * Runs work in a free slot, or queues it.
 *
 * @param key the owner of the work: keys take turns, so that a busy key delays only itself
 * @param waiter ends the wait, with the reason of its signal; work that has begun is not stopped
 * @throws {BusyError} immediately, if too much is already queued
 */
export type FairSemaphore = <T>(
  key: string,
  waiter: Waiter | undefined,
  work: () => Promise<T>,
) => Promise<T>;

/** Limits concurrent work, and gives free slots in turn to the keys with queued work. */
export function createFairSemaphore(options: FairSemaphoreOptions): FairSemaphore {
  const {
    budget,
    permits,
    permitsPerKey = permits,
    budgetPerKey = budget,
    waitingPerKeyMax,
    waitingMax,
  } = options;
  const taken = new Map<string, number>();
  const lines = new Map<string, Set<() => void>>();
  let free = permits;
  let waiting = 0;

  function enter(key: string): void {
    free -= 1;
    taken.set(key, (taken.get(key) ?? 0) + 1);
  }

  function leave(key: string): void {
    free += 1;
    const count = taken.get(key) ?? 0;
    if (count <= 1) taken.delete(key);
    else taken.set(key, count - 1);
    next();
  }

  const hasRoom = (key: string) => free > 0 && (taken.get(key) ?? 0) < permitsPerKey;

  /** Starts the first work of the first queue that is below its limit, and moves that queue to the end. */
  function next(): void {
    for (const [key, line] of lines) {
      if (!hasRoom(key)) continue;
      const [first] = line;
      lines.delete(key);
      if (first === undefined) continue;
      lines.set(key, line);
      first();
      return;
    }
  }

  function wait(key: string, waiter: Waiter | undefined): Promise<void> {
    const signal = waiter?.signal;
    signal?.throwIfAborted();
    const line = lines.get(key) ?? new Set();
    if (line.size >= waitingPerKeyMax) throw new BusyError(budgetPerKey);
    if (waiting >= waitingMax) throw new BusyError(budget);
    lines.set(key, line);
    waiting += 1;
    return new Promise((resolve, reject) => {
      const stepOut = () => {
        waiting -= 1;
        line.delete(start);
        if (line.size === 0) lines.delete(key);
        signal?.removeEventListener('abort', giveUp);
      };
      const start = () => {
        stepOut();
        enter(key);
        resolve();
      };
      const giveUp = () => {
        stepOut();
        reject(signal?.reason);
      };
      line.add(start);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Not an async function: that would be one more promise for each piece of work. */
  function run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const end = () => leave(key);
    try {
      const done = work();
      done.then(end, end);
      return done;
    } catch (error) {
      end();
      throw error;
    }
  }

  async function runLater<T>(key: string, waiter: Waiter | undefined, work: () => Promise<T>): Promise<T> {
    await wait(key, waiter);
    return run(key, work);
  }

  return (key, waiter, work) => {
    if (!hasRoom(key)) return runLater(key, waiter, work);
    enter(key);
    return run(key, work);
  };
}
