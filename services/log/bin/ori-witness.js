#!/usr/bin/env node
// A witness of signing logs as it is run in production: this process becomes the service, under the flags that
// libs/runtime/src/hardened-command.ts makes of the environment. Plain JavaScript, so that an older Node says so.
import process from 'node:process';

if (typeof process.execve !== 'function') {
  process.stderr.write(`ori-witness: needs Node 24, and this is Node ${process.versions.node}.\n`);
  process.exit(1);
}
const { startHardened } = await import('@ori/runtime/start-hardened');
startHardened(process, {
  prefix: 'WITNESS',
  folder: import.meta.dirname,
  source: 'src/witness/main.ts',
  keeps: ['WITNESS_FOLDER'],
});
