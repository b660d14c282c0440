import { linkSync, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Copies `from` over `to` with hard links, in a tenth of the time of a copy of an image's files. Only
 * for files that do not change afterwards.
 */
export function linkTree(from: string, to: string): void {
  const stats = lstatSync(from);
  if (stats.isDirectory()) {
    mkdirSync(to, { recursive: true, mode: stats.mode });
    for (const name of readdirSync(from)) linkTree(join(from, name), join(to, name));
    return;
  }
  mkdirSync(dirname(to), { recursive: true });
  rmSync(to, { force: true });
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else linkSync(from, to);
}
