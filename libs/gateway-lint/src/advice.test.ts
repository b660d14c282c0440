import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { RULES } from './finding.ts';

it('the README lists exactly the rules with their severities', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const documented = [...readme.matchAll(/^\| `([a-z-]+)` +\| (error|warning) +\|/gm)];
  expect(Object.fromEntries(documented.map(([, rule, severity]) => [rule, severity]))).toEqual(RULES);
});
