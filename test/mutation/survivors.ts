/**
 * Mutants that no test kills, each with the reason. A mutant is named by its file, a part of its line, and what it
 * puts in place of the original, or undefined for all mutants of that line.
 */
export const SURVIVORS: readonly (readonly [
  file: string,
  line: string,
  replacement: string | undefined,
  why: string,
])[] = [];
