import { readFileSync } from 'node:fs';
import { renderConfigTable } from '@ori/runtime/config-table';
import { expect, test } from 'vitest';

import { MANAGEMENT_SPEC } from './config.ts';

test('the README has the same table of settings as the code', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  // The columns may be aligned.
  const unaligned = (text: string) => text.replace(/[ -]+/g, '');
  expect(unaligned(readme)).toContain(unaligned(renderConfigTable('MANAGEMENT', MANAGEMENT_SPEC)));
});
