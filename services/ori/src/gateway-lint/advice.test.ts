import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { GATEWAY_RULES, type RuleId, severityOf } from './advice.ts';

it('the README lists exactly the rules with their severities', async () => {
  const readme = await readFile(new URL('./README.md', import.meta.url), 'utf8');
  const documented = [...readme.matchAll(/^\| `([a-z-]+)` +\| (error|warning) +\|/gm)];
  const rules = Object.keys(GATEWAY_RULES).map((rule) => [rule, severityOf(rule as RuleId)]);
  expect(documented.map(([, rule, severity]) => [rule, severity]).toSorted()).toEqual(rules.toSorted());
});
