import { ConfigError } from '@ori/runtime/config';
import { expectInReadme } from '@ori/test-env/config-table';
import { expect, it } from 'vitest';
import { LOG_SPEC, loadLogConfig } from './config.ts';
import { loadWitnessConfig, WITNESS_SPEC } from './witness/config.ts';

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

it.each([
  ['LOG', LOG_SPEC],
  ['WITNESS', WITNESS_SPEC],
])('%s settings are described by the table in the README', (prefix, spec) => {
  expectInReadme(import.meta, prefix, spec);
});
