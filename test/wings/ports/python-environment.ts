import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIREMENTS = fileURLToPath(
  new URL('../../../libs/public/python/requirements-test.txt', import.meta.url),
);
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));

/**
 * A Python with what the tests of its port and of generated clients need, installed once for each change of its requirements.
 * Undefined, with a message, where there is no python3 with venv, or no package index.
 */
export function installPython(): string | undefined {
  const digest = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 16);
  const home = join(CACHE, `python-${digest}`);
  const python = join(home, 'bin/python3');
  if (existsSync(python)) return python;
  const staging = `${home}.${process.pid}`;
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' });
  try {
    run('python3', '-m', 'venv', staging);
    run(join(staging, 'bin/python3'), '-m', 'pip', 'install', '--quiet', '--requirement', REQUIREMENTS);
    renameSync(staging, home);
    return python;
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    // Another process may have installed it meanwhile.
    if (existsSync(python)) return python;
    console.warn(`Python: tests are skipped, packages cannot be installed: ${String(error).slice(0, 500)}`);
    return undefined;
  }
}
