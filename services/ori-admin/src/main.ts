import { keepCompiled } from '@ori/faces/compile-cache';
import { EXIT } from './exit-codes.ts';

keepCompiled(process.env);

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
