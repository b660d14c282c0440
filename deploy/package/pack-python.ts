import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stageDocuments } from '../bundle/documents.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGE = 'libs/public/python';
const BACKEND = 'hatchling==1.33.0';

/**
 * Builds a wheel and an sdist of `ori-proof` and returns their paths. `python` has hatchling; without it, a virtual environment
 * gets one from the package index. Rejects where there is no python3 with venv, or no index.
 */
export async function packPython(destination: string, python?: string): Promise<string[]> {
  const staging = await mkdtemp(join(tmpdir(), 'ori-pack-'));
  try {
    const folder = join(staging, 'package');
    await cp(join(ROOT, PACKAGE), folder, {
      recursive: true,
      filter: (path) => !path.includes('__pycache__'),
    });
    await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
    await stageDocuments({ [`${PACKAGE}/README.md`]: 'README.md' }, folder);
    const builder = python ?? (await installBackend(join(staging, 'venv')));
    const built = join(staging, 'dist');
    await run(builder, ['-m', 'hatchling', 'build', '-d', built], { cwd: folder });
    const files = await readdir(built);
    for (const file of files) await cp(join(built, file), join(destination, file));
    return files.toSorted().map((file) => resolve(destination, file));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function installBackend(venv: string): Promise<string> {
  await run('python3', ['-m', 'venv', venv]);
  const python = join(venv, 'bin/python3');
  await run(python, ['-m', 'pip', 'install', '--quiet', BACKEND]);
  return python;
}
