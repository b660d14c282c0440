import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AREAS } from './areas.ts';

const PART_LINES = 12;

/** An area and as many parts of its files as make `lines` lines, drawn by the seed. */
export function drawLines(
  seed: string,
  lines: number,
  sourcesOf: (area: string) => readonly string[],
): { area: string; ranges: string[] } {
  const names = Object.keys(AREAS);
  const area = names[draw(seed, names.length)] as string;
  const parts = sourcesOf(area).flatMap((file) => {
    const count = Math.ceil(readFileSync(file, 'utf8').split('\n').length / PART_LINES);
    return Array.from(
      { length: count },
      (_, index) => `${file}:${index * PART_LINES + 1}-${(index + 1) * PART_LINES}`,
    );
  });
  const ranges = parts
    .map((part) => ({ part, order: draw(`${seed} ${part}`, 2 ** 32) }))
    .sort((a, b) => a.order - b.order)
    .slice(0, Math.ceil(lines / PART_LINES))
    .map(({ part }) => part);
  return { area, ranges };
}

function draw(text: string, below: number): number {
  return createHash('sha256').update(text).digest().readUInt32BE() % below;
}
