import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Does at install what makes a first start slow: compiles the standalone and has an empty database made. Only a
 * saving, so nothing that goes wrong here fails an install.
 */
async function prepare(cacheFolder: string): Promise<void> {
  module.enableCompileCache(join(cacheFolder, 'compile-cache'));
  await import('./program.ts');
  const { openPglite } = await import('@ori/store');
  const database = await openPglite({ cacheFolder });
  await database.close();
}

// biome-ignore lint/style/noProcessEnv: a program of its own, as main.ts is.
const { HOME, XDG_CACHE_HOME } = process.env;
await prepare(join(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'ori')).catch(() => {});
