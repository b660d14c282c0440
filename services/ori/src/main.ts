import { writeSync } from 'node:fs';
import { setGlobalProxyFromEnv } from 'node:http';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { explainSystemError } from '@ori/faces/system-error';

// Compilation takes half of the start-up time. The cache is in the user's own folder, because the default one is
// shared.
const { HOME, XDG_CACHE_HOME } = process.env;
module.enableCompileCache(join(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'ori', 'compile-cache'));

const STDOUT_CLOSED = 141;
const interrupted = new AbortController();
/** One Ctrl-C can arrive more than once: from the terminal, and forwarded by npx or the launcher. */
const SAME_SIGNAL_MS = 500;
let ending: number | undefined;
let firstAt = 0;

function stop(exit: number): void {
  // A second signal ends the process immediately.
  if (ending !== undefined && performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(ending);
  if (ending !== undefined) return;
  ending = exit;
  firstAt = performance.now();
  interrupted.abort();
}

process.on('SIGINT', () => stop(130));
process.on('SIGTERM', () => stop(143));
// `ori … | head`: the reader has closed the pipe, so there is nobody to report to.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(STDOUT_CLOSED);
  writeSync(2, `ori: Cannot write to stdout: ${explainSystemError(error)}.\n`);
  process.exit(1);
});
process.stderr.on('error', () => {});

/** Not at the top level, so that it can also be bundled as CommonJS, for the executable. */
export async function main(): Promise<void> {
  // Before the first request: Node itself reads these variables only with NODE_USE_ENV_PROXY.
  if (process.env['HTTPS_PROXY'] || process.env['https_proxy']) {
    const { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = process.env;
    setGlobalProxyFromEnv({ https_proxy: https_proxy || HTTPS_PROXY, no_proxy: no_proxy || NO_PROXY });
  }
  const { run } = await import('./program.ts');
  const exit = await run(process.argv.slice(2), {
    environment: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    interrupted: interrupted.signal,
    nowSeconds: () => Math.floor(Date.now() / 1000),
  });
  process.exitCode = ending ?? exit;
  // Does not wait for anything after an interruption.
  if (ending !== undefined) process.exit();
}
