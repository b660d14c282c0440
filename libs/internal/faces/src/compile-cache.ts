// Not by the names of what it exports: an older Node, which lacks one, would say that instead of what is needed.
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Compilation takes up to half of the start-up time. The cache is in the user's own folder, because the default one is shared. */
export function keepCompiled({ HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): void {
  module.enableCompileCache(
    join(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'ori', 'compile-cache'),
  );
}
