#!/usr/bin/env node
// The signing log as it is run in production: this process becomes the service, under the flags that
// libs/runtime/src/hardened-command.ts makes of the environment. Plain JavaScript, so that an older Node says so.
import process from 'node:process';

if (typeof process.execve !== 'function') {
  process.stderr.write(`ori-log: needs Node 24, and this is Node ${process.versions.node}.\n`);
  process.exit(1);
}
const { startHardened } = await import('@ori/runtime/start-hardened');
startHardened(process, {
  prefix: 'LOG',
  folder: import.meta.dirname,
  keeps: ['LOG_FOLDER', 'LOG_GUARD_FOLDER'],
  follows: ['LOG_AUDIT_FILES'],
});
