import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// A third of a start is compiling, and half of the rest making an empty database. Kept in the user's own folder.
const { HOME, XDG_CACHE_HOME } = process.env;
const cacheFolder = join(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'ori');
enableCompileCache(join(cacheFolder, 'compile-cache'));

const { run } = await import('./program.ts');
await run({ env: process.env, home: process.cwd(), cacheFolder });
