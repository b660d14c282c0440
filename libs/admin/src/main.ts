import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from './exit-codes.ts';

// Half of what a start costs is compiling. The cache is in the user's own folder: the default one is shared.
const { HOME, XDG_CACHE_HOME } = process.env;
enableCompileCache(join(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'ori', 'compile-cache'));

const STDOUT_CLOSED = 141;

// `ori-admin … | head`: the reader has what it wanted, and nobody is left to tell anything.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? STDOUT_CLOSED : EXIT.unexpected),
);
process.stderr.on('error', () => {});

const { run } = await import('./program.ts');
process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
