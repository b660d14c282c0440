import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { startStandalone } from '../../services/standalone/src/standalone.ts';

/**
 * `node test/client/newest.ts`: installs the family's newest clients, `@openrouter/sdk` of npm and `openrouter` of PyPI,
 * and calls every operation of `npm start` with each. Prints names only, and how operations are refused. Exits with 1 if
 * a client fails in another way than by a refusal.
 */
const home = await mkdtemp(join(tmpdir(), 'ori-newest-'));
const standalone = await startStandalone(loadStandaloneConfig({ ORI_PORT: '0' }), home);
const { baseUrl, apiKey, managementKey, users } = standalone.state;
const userId = users[0]?.userId ?? '';
try {
  const python = join(home, 'venv/bin/python');
  execFileSync('python3', ['-m', 'venv', join(home, 'venv')]);
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', 'openrouter']);
  const version = `import importlib.metadata as m; print('PyPI openrouter', m.version('openrouter'))`;
  console.log(execFileSync(python, ['-c', version], { encoding: 'utf8' }).trim());
  const program = join(import.meta.dirname, 'newest.py');
  await run(python, [program, baseUrl, apiKey, managementKey, userId]);

  execFileSync('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefix',
    home,
    '@openrouter/sdk',
  ]);
  const manifest = await readFile(join(home, 'node_modules/@openrouter/sdk/package.json'), 'utf8');
  console.log('npm @openrouter/sdk', JSON.parse(manifest).version);
  await cp(join(import.meta.dirname, 'family-client.ts'), join(home, 'family-client.mts'));
  const given = JSON.stringify({ baseUrl, apiKey, managementKey, userId });
  await writeFile(
    join(home, 'run.mts'),
    `import { deepEqual } from 'node:assert/strict';
import { callEverything, EVERYTHING_WORKED } from './family-client.mts';
deepEqual(await callEverything(${given}), EVERYTHING_WORKED(${JSON.stringify(userId)}));
console.log('pass     every operation');`,
  );
  await run(process.execPath, [join(home, 'run.mts')]);
} finally {
  await standalone.stop();
  await rm(home, { recursive: true, force: true });
}

/** Not synchronously: the standalone answers in this process. */
async function run(program: string, words: readonly string[]): Promise<void> {
  const [status] = await once(spawn(program, words, { stdio: 'inherit' }), 'exit');
  if (status !== 0) process.exitCode = 1;
}
