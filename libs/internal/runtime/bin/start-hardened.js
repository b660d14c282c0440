// Starts a service as in production. Plain JavaScript, so that an older Node can print the error below.
import process from 'node:process';

/** @param {import('../src/hardened-command.ts').HardenedProgram} program */
export async function startHardened(program) {
  if (typeof process.execve !== 'function') {
    const name = `ori-${program.prefix.toLowerCase()}`;
    process.stderr.write(`${name}: needs Node 24, and this is Node ${process.versions.node}.\n`);
    process.exit(1);
  }
  const started = await import('../src/start-hardened.ts');
  started.startHardened(process, program);
}
