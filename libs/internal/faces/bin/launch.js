// Runs the main program of a command, which is TypeScript. Plain JavaScript, because the Node in the user's PATH may be
// older: then it starts the Node that this workspace pins. A built command, which may be anywhere, needs a newer one.
import process from 'node:process';

/** The first whose `node:sqlite` prints no warning. */
const NODE_MIN = '24.15';

/** @param {string} name the command's @param {() => Promise<unknown>} main imports its main program */
export async function launch(name, main) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NODE_MIN.split('.').map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) await main();
  else await handOver(name);
}

async function handOver(name) {
  const { createRequire } = await import('node:module');
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  let node;
  try {
    if (!import.meta.url.endsWith('/bin/launch.js')) throw new Error('bundled');
    node = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    process.stderr.write(
      `${name}: needs Node ${NODE_MIN} or newer, and this is Node ${process.versions.node}.\n` +
        `${' '.repeat(name.length)}  Install it: https://nodejs.org\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both processes; only the child knows what to close, so this one waits for it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${name}: cannot run ${node}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
