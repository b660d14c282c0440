import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ori/runtime/config';
import { expect, it } from 'vitest';
import { loadLogConfig } from './config.ts';
import { loadWitnessConfig } from './witness/config.ts';

const problemsOf = (load: () => unknown): readonly string[] => {
  try {
    load();
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)];
  }
};

it.each(['https://api.example/log', 'api.example', 'api.example/log/', 'api.example/a b'])(
  'refuses the origin %s',
  (LOG_ORIGIN) => {
    const problems = problemsOf(() => loadLogConfig({ LOG_ORIGIN }));
    expect(problems).toContainEqual(expect.stringMatching(/^LOG_ORIGIN: expected a host and a path/));
  },
);

it.each(['two words', 'a+b'])('refuses a witness by the name of "%s"', (WITNESS_NAME) => {
  const problems = problemsOf(() => loadWitnessConfig({ WITNESS_NAME }));
  expect(problems).toContainEqual(expect.stringMatching(/^WITNESS_NAME: expected a name/));
});

it('refuses client certificates for a witness that has none itself', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-witness-config-'));
  const file = join(folder, 'empty');
  await writeFile(file, '');
  const problems = problemsOf(() =>
    loadWitnessConfig({
      WITNESS_NAME: 'w',
      WITNESS_KEY: Buffer.alloc(32).toString('base64'),
      WITNESS_FOLDER: folder,
      WITNESS_POLICY_FILE: file,
      WITNESS_TLS_CLIENT_CA_FILE: file,
    }),
  );
  await rm(folder, { recursive: true });
  expect(problems).toEqual([expect.stringMatching(/^WITNESS_TLS_CLIENT_CA_FILE: /)]);
});
