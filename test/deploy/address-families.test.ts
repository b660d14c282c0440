import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';

const PROGRAM = join(import.meta.dirname, 'address-family.ts');
const isPossible = spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

test.runIf(isPossible && NGINX !== undefined).concurrent.each(['4', '6'])(
  'probes of the images and of the status site are answered where there is IPv%s only',
  async (family) => {
    const { stdout } = await promisify(execFile)('unshare', ['-n', process.execPath, PROGRAM, family]);
    expect(JSON.parse(stdout)).toEqual({ guard: '200', docker: '200', 'kubernetes/base': '200' });
  },
);

test('need a network namespace, and nginx', ({ skip }) => {
  skip(!isPossible || NGINX === undefined, 'run as root, with unshare and ip');
});
