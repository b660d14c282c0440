import { RE2JS } from 're2js';
import { PATTERN_SIZE_MAX, PATTERNS_SIZE_MAX, patternSize } from './pattern-size.ts';

/** The first refused pattern, and the reason. */
export interface RefusedPattern {
  readonly refused?: { readonly index: number; readonly reason: string };
}

/** Finds the first pattern that is refused. The sizes are checked first, because that is cheap and bounds the cost of compiling. */
export function findRefused(patterns: readonly string[]): RefusedPattern {
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
