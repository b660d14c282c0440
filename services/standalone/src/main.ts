import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Compilation takes a third of the start-up time. The cache is in the user's own folder, because the default one is
// shared.
const { HOME, XDG_CACHE_HOME } = process.env;
enableCompileCache(join(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'ori/compile-cache'));

const { run } = await import('./program.ts');
await run({ env: process.env, home: process.cwd() });
