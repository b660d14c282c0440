import { once } from 'node:events';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createFairSemaphore } from '@ori/runtime/fair-semaphore';
import { LIMITS } from '@ori/runtime/limits';
import { Refusal } from '../refusal.ts';
import type { RefusedPattern } from './linear-patterns.ts';
import type { CustomFilter } from './shape.ts';

/** As many as an account, and a process, may have in progress by default. */
const WAITING_PER_ACCOUNT_MAX = LIMITS.requestsInFlightPerAccountMax;
const WAITING_MAX = LIMITS.requestsInFlightMax;

/** How many times its CPU time a compilation may take on a busy machine. */
const SLOWEST = 10;

/**
 * Compiles patterns on a separate thread, so that no pattern blocks the service. Accounts take turns on it.
 *
 * @param cpuMs CPU time for the patterns of one request, regardless of other load
 */
export function createPatternCompiler({ cpuMs = 1000 } = {}) {
  let worker: Worker | undefined;
  const inPlace = createFairSemaphore({
    budget: 'patterns',
    budgetPerKey: 'account',
    permits: 1,
    waitingPerKeyMax: WAITING_PER_ACCOUNT_MAX,
    waitingMax: WAITING_MAX,
  });

  async function compile(filters: readonly CustomFilter[]): Promise<void> {
    const answer = await ask(filters.map((filter) => filter.pattern));
    if (answer.refused === undefined) return;
    const { index, reason } = answer.refused;
    throw refused(`content_filters.${index}.pattern: ${reason}.`);
  }

  async function ask(patterns: readonly string[]): Promise<RefusedPattern> {
    worker ??= await startWorker();
    const thread = worker;
    const before = await thread.cpuUsage();
    const abandoned = new AbortController();
    const abandonIfCostly = ({ user, system }: NodeJS.CpuUsage) => {
      if (user + system > cpuMs * 1000) abandoned.abort();
    };
    // A thread that has ended uses no CPU time.
    const look = () => void thread.cpuUsage(before).then(abandonIfCostly, () => {});
    const watch = setInterval(look, cpuMs / 4);
    const slowest = setTimeout(() => abandoned.abort(), SLOWEST * cpuMs);
    thread.postMessage(patterns);
    try {
      const [answer] = (await once(thread, 'message', abandoned)) as [RefusedPattern];
      return answer;
    } catch (error) {
      await thread.terminate();
      worker = undefined;
      if (abandoned.signal.aborted) throw refused('content_filters: the patterns are too large to compile.');
      throw error;
    } finally {
      clearInterval(watch);
      clearTimeout(slowest);
    }
  }

  return {
    /**
     * Requires every pattern to compile in a linear-time engine (RE2: no back-references, no look-around).
     *
     * @param signal gives up waiting for it
     * @throws Refusal `invalid_parameters` naming the first pattern that does not, or that takes too long; BusyError
     */
    async requireLinear(
      filters: readonly CustomFilter[] | null | undefined,
      account: string,
      signal: AbortSignal,
    ): Promise<void> {
      if (filters === undefined || filters === null || filters.length === 0) return;
      await inPlace(account, { signal }, () => compile(filters));
    },
    async close(): Promise<void> {
      await worker?.terminate();
    },
  };
}

export type PatternCompiler = ReturnType<typeof createPatternCompiler>;

async function startWorker(): Promise<Worker> {
  // The program of the thread is next to this file, as source or built.
  const worker = new Worker(
    join(import.meta.dirname, `pattern-compiler-worker${extname(import.meta.filename)}`),
  );
  await once(worker, 'online');
  worker.unref();
  return worker;
}

function refused(message: string): Refusal {
  return new Refusal('invalid_parameters', message);
}
