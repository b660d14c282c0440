import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { shippedFolder } from '../../env/programs.ts';
import { ROOT } from '../root.ts';

/** Under a systemd of its own. The rest of it runs each night. */
const SCRIPT = join(ROOT, 'test/lab/operators/systemd.sh');
const isPossible = process.getuid?.() === 0 && spawnSync('bash', [SCRIPT, 'probe']).status === 0;

test.skipIf(!isPossible)('the page leads from nothing to a proof', { timeout: 120_000 }, async () => {
  const options = { env: { ...process.env, ORI_DIST: await shippedFolder() }, timeout: 110_000 };
  const { stdout } = await promisify(execFile)('bash', [SCRIPT, 'page'], options);
  expect(stdout).toContain(' 0 failed');
});
