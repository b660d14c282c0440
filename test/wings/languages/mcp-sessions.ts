import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { installPython } from '../ports/python-environment.ts';

const PYTHON = installPython();
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache');

/** The folder of a version of the SDK, installed once. */
function install(python: string, version: string): string {
  const folder = join(CACHE, `python-mcp-${version}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--target', folder, `mcp==${version}`];
  if (!existsSync(folder)) execFileSync(python, pip, { stdio: 'pipe' });
  return folder;
}

test.skipIf(PYTHON === undefined).each(['1.30.0', '2.3.0'])(
  'in a session of two persons, a tool of mcp %s names the one who calls',
  { timeout: 300_000 },
  async (version) => {
    const PYTHONPATH = install(PYTHON ?? '', version);
    const { stdout } = await promisify(execFile)(
      PYTHON ?? '',
      [join(import.meta.dirname, 'mcp_session.py')],
      { env: { ...process.env, PYTHONPATH } },
    );
    expect(JSON.parse(stdout)).toEqual({
      told: { '0 ada': 'ada', '1 mallory': 'mallory', '2 ada': 'ada' },
      'without a proof': 401,
    });
  },
);
