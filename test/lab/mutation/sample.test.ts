import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sharedBackend } from '../../env/run.ts';

test('tests notice every mutant of a sample of the protocol', async () => {
  const args = ['--sample', '8', '--seed', 'deep', 'proof'];
  const env = {
    ...process.env,
    MUTATION_BACKENDS: JSON.stringify({
      redisUrl: await sharedBackend('redisUrl'),
      postgresUrl: await sharedBackend('postgresUrl'),
      programs: await sharedBackend('programs'),
    }),
  };
  const main = join(import.meta.dirname, 'main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env }).catch(
    (error) => error,
  );
  expect(stdout).toMatch(/proof: [1-9]\d* killed \(.*\), 0 alive/);
}, 180_000);
