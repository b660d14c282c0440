import { expectInReadme } from '@ori/test-env/config-table';
import { test } from 'vitest';

import { MANAGEMENT_SPEC } from './config.ts';

test('the README has the same table of settings as the code', () => {
  expectInReadme(import.meta, 'MANAGEMENT', MANAGEMENT_SPEC);
});
