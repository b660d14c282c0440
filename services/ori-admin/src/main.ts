import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from './exit-codes.ts';

// Compilation takes half of the start-up time. The cache is in the user's own folder, because the default one is
// shared.
const { HOME, XDG_CACHE_HOME } = process.env;
enableCompileCache(join(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'ori', 'compile-cache'));

const STDOUT_CLOSED = 141;

// `ori-admin … | head`: the reader has closed the pipe, so there is nobody to report to.
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
