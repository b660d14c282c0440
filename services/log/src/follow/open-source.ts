import { stat } from 'node:fs/promises';
import { followFile } from './audit-files.ts';
import { followPipe } from './audit-pipe.ts';
import type { Position } from './position.ts';
import type { Source } from './source.ts';

/** A source at the path that a signer writes its audit lines to: a file that is rotated, or a FIFO. */
export async function openSource(path: string, position: Position | undefined): Promise<Source> {
  const there = await stat(path).catch(() => undefined);
  return there?.isFIFO() ? followPipe(path) : followFile(path, position);
}
