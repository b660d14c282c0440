import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ori/runtime/config';
import { expect, it } from 'vitest';
import { loadLogConfig } from './config.ts';
import { loadWitnessConfig } from './witness/config.ts';

const complaintsOf = (load: () => unknown): readonly string[] => {
  try {
    load();
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.complaints : [String(error)];
  }
};

it.each(['https://api.example/log', 'api.example', 'api.example/log/', 'api.example/a b'])(
  'refuses the origin %s',
  (LOG_ORIGIN) => {
    const complaints = complaintsOf(() => loadLogConfig({ LOG_ORIGIN }));
    expect(complaints).toContainEqual(expect.stringMatching(/^LOG_ORIGIN: expected a host and a path/));
  },
);

it.each(['two words', 'a+b'])('refuses a witness by the name of "%s"', (WITNESS_NAME) => {
  const complaints = complaintsOf(() => loadWitnessConfig({ WITNESS_NAME }));
  expect(complaints).toContainEqual(expect.stringMatching(/^WITNESS_NAME: expected a name/));
});

it('refuses client certificates for a witness that has none itself', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-witness-config-'));
  const file = join(folder, 'empty');
  await writeFile(file, '');
  const complaints = complaintsOf(() =>
    loadWitnessConfig({
      WITNESS_NAME: 'w',
      WITNESS_KEY: Buffer.alloc(32).toString('base64'),
      WITNESS_FOLDER: folder,
      WITNESS_POLICY_FILE: file,
      WITNESS_TLS_CLIENT_CA_FILE: file,
    }),
  );
  await rm(folder, { recursive: true });
  expect(complaints).toEqual([expect.stringMatching(/^WITNESS_TLS_CLIENT_CA_FILE: /)]);
});
