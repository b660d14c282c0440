import { expect, test } from 'vitest';
import { inLanes } from '../../../env/in-lanes.ts';

import { MUTANTS } from './mutants.ts';
import { hasProVerif, modelOf, prove } from './prove.ts';
import { QUERIES, SCENARIOS, type Scenario } from './scenarios.ts';

const scenarios = Object.entries<Scenario>(SCENARIOS);
const mutants = Object.entries(MUTANTS);
const canProve = await hasProVerif();
if (!canProve) process.stderr.write('symbolic model: not proven, because proverif is not on the PATH\n');

test('each mutant still changes the model', async () => {
  expect(mutants.length).toBeGreaterThanOrEqual(20);
  for (const [, { in: name, change }] of mutants) await modelOf(SCENARIOS[name], change);
});

test.runIf(canProve)(
  'each query holds, or is refuted as SECURITY.md says',
  { timeout: 300_000 },
  async () => {
    for (const [name, scenario] of scenarios) {
      const expected = QUERIES.map((query) => [
        query,
        scenario.refuted.includes(query) ? 'refuted' : 'holds',
      ]);
      expect([name, await prove(await modelOf(scenario))]).toEqual([name, Object.fromEntries(expected)]);
    }
  },
);

test.runIf(canProve)('each mutant is refuted', { timeout: 600_000 }, async () => {
  const verdicts = await inLanes(mutants.length, 2, async (index) => {
    const [name, { in: scenario, change, refutes }] = mutants[index] as (typeof mutants)[number];
    return [name, (await prove(await modelOf(SCENARIOS[scenario], change)))[refutes]];
  });
  expect(verdicts).toEqual(mutants.map(([name]) => [name, 'refuted']));
});
