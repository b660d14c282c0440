import { linkSync, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Puts what is at `from` at `to` by hard links, over what is there: a copy of an image's files in a tenth of the time. Only
 * for files that are not changed afterwards.
 */
export function linkTree(from: string, to: string): void {
  const stats = lstatSync(from);
  if (stats.isDirectory()) {
    mkdirSync(to, { recursive: true, mode: stats.mode });
    for (const name of readdirSync(from)) linkTree(join(from, name), join(to, name));
    return;
  }
  rmSync(to, { force: true });
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else linkSync(from, to);
}
