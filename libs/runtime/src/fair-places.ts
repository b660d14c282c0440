import { BusyError } from './busy-error.ts';
import type { Budget } from './metrics.ts';

export interface FairPlacesOptions {
  /** What the places are for, in the metrics. */
  readonly budget: Budget;
  readonly places: number;
  /** Of these, for one key; all of them unless given. */
  readonly placesPerKey?: number;
  /** How many may wait: of one key, and in all. */
  readonly waitingPerKeyMax: number;
  readonly waitingMax: number;
}

/** What ends a wait, such as a request's deadline. The signal is only asked for where there is a wait. */
export interface Waiter {
  readonly signal: AbortSignal;
}

/**
 * Runs work in one of the places, or queues it for one.
 *
 * @param key whose work it is: keys take turns, so that a busy key delays itself and no other
 * @param waiter ends the wait, with the reason of its signal; work that has begun is not stopped
 * @throws {BusyError} at once, where too much is queued already
 */
export type FairPlaces = <T>(key: string, waiter: Waiter | undefined, work: () => Promise<T>) => Promise<T>;

/** A limit on work under way, whose places are given in turn to those who have work waiting. */
export function createFairPlaces(options: FairPlacesOptions): FairPlaces {
  const { budget, places, placesPerKey = places, waitingPerKeyMax, waitingMax } = options;
  const taken = new Map<string, number>();
  const lines = new Map<string, Set<() => void>>();
  let free = places;
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

  const hasRoom = (key: string) => free > 0 && (taken.get(key) ?? 0) < placesPerKey;

  /** Lets in the first of the first line that may enter, and puts that line last. */
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
    if (line.size >= waitingPerKeyMax || waiting >= waitingMax) throw new BusyError(budget);
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

  return async (key, waiter, work) => {
    if (hasRoom(key)) enter(key);
    else await wait(key, waiter);
    try {
      return await work();
    } finally {
      leave(key);
    }
  };
}
