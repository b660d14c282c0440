#!/usr/bin/env node
// Runs src/admin/main.ts on a Node that runs TypeScript. Plain JavaScript, because the Node that the user's PATH
// names may be older: then it hands over to the Node 24 that this workspace pins.
import process from 'node:process';

const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) await import('../src/admin/main.ts');
else await handOver();

async function handOver() {
  const { createRequire } = await import('node:module');
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  let node;
  try {
    node = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    process.stderr.write(
      `ori-admin: needs Node ${NODE_MAJOR_MIN} or newer, and this is Node ${process.versions.node}.\n` +
        `           Install Node ${NODE_MAJOR_MIN}, or run it from the workspace with: npx ori-admin\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both; only the child knows what to close, so this process waits for it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`ori-admin: cannot run ${node}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
