import { parentPort } from 'node:worker_threads';
import { RE2JS } from 're2js';
import { PATTERN_SIZE_MAX, PATTERNS_SIZE_MAX, patternSize } from './pattern-size.ts';

/** The answer of the compiling thread: the first refused pattern, and the reason. */
export interface CompilerAnswer {
  readonly refused?: { readonly index: number; readonly reason: string };
}

/** The sizes are checked first, because that is cheap and bounds the cost of compiling. */
function judge(patterns: readonly string[]): CompilerAnswer {
  let total = 0;
  for (const [index, pattern] of patterns.entries()) {
    const size = patternSize(pattern);
    total += size;
    if (size > PATTERN_SIZE_MAX) {
      return { refused: { index, reason: 'too large with its repetitions expanded' } };
    }
    if (total > PATTERNS_SIZE_MAX) {
      return { refused: { index, reason: 'too large together with those before it' } };
    }
  }
  for (const [index, pattern] of patterns.entries()) {
    try {
      RE2JS.compile(pattern);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it does not compile';
      return { refused: { index, reason: `not a regular expression in RE2 syntax (${reason})` } };
    }
  }
  return {};
}

parentPort?.on('message', (patterns: readonly string[]) => parentPort?.postMessage(judge(patterns)));
