import { once } from 'node:events';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Refusal } from '../refusal.ts';
import type { CompilerAnswer } from './pattern-compiler-worker.ts';
import { requireModestPatterns } from './pattern-size.ts';
import type { CustomFilter } from './shape.ts';

/** Compiles patterns on a thread of its own, so that no pattern makes the service stand still. */
export interface PatternCompiler {
  /**
   * Requires every pattern to compile in a linear-time engine (RE2: no back-references, no look-around).
   *
   * @throws Refusal `invalid_parameters` naming the first pattern that does not, or that takes too long.
   */
  requireLinear(filters: readonly CustomFilter[] | null | undefined): Promise<void>;
  close(): Promise<void>;
}

export function createPatternCompiler({ timeoutMs = 1000 } = {}): PatternCompiler {
  let worker: Worker | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function compile(filters: readonly CustomFilter[]): Promise<void> {
    worker ??= startWorker();
    const abandoned = AbortSignal.timeout(timeoutMs);
    worker.postMessage(filters.map((filter) => filter.pattern));
    try {
      const [answer] = (await once(worker, 'message', { signal: abandoned })) as [CompilerAnswer];
      if (answer.refused === undefined) return;
      const { index, reason } = answer.refused;
      throw refused(`content_filters.${index}.pattern: not a regular expression in RE2 syntax (${reason}).`);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      await worker.terminate();
      worker = undefined;
      if (abandoned.aborted) throw refused('content_filters: the patterns are too large to compile.');
      throw error;
    }
  }

  return {
    async requireLinear(filters) {
      if (filters === undefined || filters === null || filters.length === 0) return;
      requireModestPatterns(filters);
      const mine = turn.then(() => compile(filters));
      turn = mine.catch(() => undefined);
      await mine;
    },
    async close() {
      await turn;
      await worker?.terminate();
    },
  };
}

function startWorker(): Worker {
  // The thread's program stands beside this one, as a source or as it was built.
  const worker = new Worker(
    join(import.meta.dirname, `pattern-compiler-worker${extname(import.meta.filename)}`),
  );
  worker.unref();
  return worker;
}

function refused(message: string): Refusal {
  return new Refusal('invalid_parameters', message);
}
