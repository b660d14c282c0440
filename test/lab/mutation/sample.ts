import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const PART_LINES = 24;

/** As many parts of the files, `FILE:FIRST-LAST`, as make `lines` lines, drawn by the seed. */
export function drawParts(seed: string, lines: number, files: readonly string[]): string[] {
  return files
    .flatMap((file) => {
      const count = Math.ceil(readFileSync(file, 'utf8').split('\n').length / PART_LINES);
      return Array.from(
        { length: count },
        (_, index) => `${file}:${index * PART_LINES + 1}-${(index + 1) * PART_LINES}`,
      );
    })
    .map((part) => ({ part, order: createHash('sha256').update(`${seed} ${part}`).digest('hex') }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
    .slice(0, Math.ceil(lines / PART_LINES))
    .map(({ part }) => part);
}
