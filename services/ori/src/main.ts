import { writeSync } from 'node:fs';
// Not by the names of what it exports: an older Node, which lacks one, would say that instead of what is needed.
import http from 'node:http';
import { keepCompiled } from '@ori/faces/compile-cache';
import { explainSystemError } from '@ori/faces/system-error';
import { exitAtTheEnd, hasAbandoned } from './adapters/to-the-end.ts';
import { readProxyEnvironment } from './core/proxy-environment.ts';

keepCompiled(process.env);

const STDOUT_CLOSED = 141;
const interrupted = new AbortController();
/** One Ctrl-C can arrive more than once: from the terminal, and forwarded by npx or the launcher. */
const SAME_SIGNAL_MS = 500;
let ending: number | undefined;
let firstAt = 0;

function stop(exit: number): void {
  // A second signal ends the process immediately, unless a session is being renewed.
  if (ending !== undefined && performance.now() - firstAt > SAME_SIGNAL_MS) exitAtTheEnd(ending);
  if (ending !== undefined) return;
  ending = exit;
  firstAt = performance.now();
  interrupted.abort();
}

process.on('SIGINT', () => stop(130));
process.on('SIGTERM', () => stop(143));
// The terminal was closed.
process.on('SIGHUP', () => stop(129));
process.on('SIGQUIT', () => stop(131));
// `ori … | head`: the reader has closed the pipe, so there is nobody to report to.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return exitAtTheEnd(STDOUT_CLOSED);
  writeSync(2, `ori: Cannot write to stdout: ${explainSystemError(error)}.\n`);
  exitAtTheEnd(1);
});
process.stderr.on('error', () => {});

/** Not at the top level, so that it can also be bundled as CommonJS, for the executable. */
export async function main(): Promise<void> {
  // Before the first request: Node itself reads these variables only with NODE_USE_ENV_PROXY.
  try {
    const proxy = readProxyEnvironment(process.env);
    if (proxy !== undefined) http.setGlobalProxyFromEnv({ ...proxy });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    (await import('./adapters/http-request.ts')).refuseHttps(error.message);
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
  // Does not wait for anything else after an interruption.
  if (ending !== undefined || hasAbandoned()) exitAtTheEnd(process.exitCode);
}
