import { parentPort } from 'node:worker_threads';
import { RE2JS } from 're2js';

/** What the compiling thread answers: the first pattern that does not compile, and why. */
export interface CompilerAnswer {
  readonly refused?: { readonly index: number; readonly reason: string };
}

function judge(patterns: readonly string[]): CompilerAnswer {
  for (const [index, pattern] of patterns.entries()) {
    try {
      RE2JS.compile(pattern);
    } catch (error) {
      return { refused: { index, reason: error instanceof Error ? error.message : 'it does not compile' } };
    }
  }
  return {};
}

parentPort?.on('message', (patterns: readonly string[]) => parentPort?.postMessage(judge(patterns)));
