import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('every mutant of a sentence is accused by a vector, or has a reason', { timeout: 1_800_000 }, () => {
  const said = execFileSync(process.execPath, [join(import.meta.dirname, 'main.ts')], { encoding: 'utf8' });
  expect(said).toMatch(/ 0 survive without a reason$/m);
});
