import { chmodSync, mkdirSync, statSync } from 'node:fs';
// Not by the names of what it exports: an older Node, which lacks one, would say that instead of what is needed.
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const OTHERS_WRITE = 0o022;

/**
 * Compilation takes up to half of the start-up time. What is kept is run as it is, whatever the sources say, so it is in
 * the user's own folder, because the default one is shared, and is not used if others can write there.
 */
export function keepCompiled({ HOME, XDG_CACHE_HOME = '' }: NodeJS.ProcessEnv): void {
  try {
    // XDG Base Directory Specification: a relative folder is ignored.
    const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME || homedir(), '.cache');
    if (!isAbsolute(cache)) return;
    const folder = join(cache, 'ori', 'compile-cache');
    // Node makes its own folder in this one with what the umask leaves.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    const user = process.getuid?.();
    if (user !== undefined && (uid !== user || (mode & OTHERS_WRITE) !== 0)) return;
    chmodSync(folder, 0o700);
    module.enableCompileCache(folder);
  } catch {
    // A user without a home, or a folder that cannot be written.
  }
}
