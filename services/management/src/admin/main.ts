import { EXIT } from './exit-codes.ts';
import { run } from './program.ts';

const STDOUT_CLOSED = 141;

// `ori-admin … | head`: the reader has what it wanted, and nobody is left to tell anything.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? STDOUT_CLOSED : EXIT.unexpected),
);
process.stderr.on('error', () => {});

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
