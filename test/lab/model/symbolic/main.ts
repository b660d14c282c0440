import { MUTANTS } from './mutants.ts';
import { hasProVerif, modelOf, prove } from './prove.ts';
import { QUERIES, SCENARIOS, type Scenario } from './scenarios.ts';

// npm run prove: every query in every scenario, then every mutant.
if (!(await hasProVerif())) {
  console.error('proverif is not on the PATH. Its public source builds with Debian’s ocaml-nox in a minute.');
  process.exit(1);
}
let isAsExpected = true;

function tell(name: string, verdict: string, expected: string): void {
  if (verdict !== expected) isAsExpected = false;
  console.log(`  ${name.padEnd(20)} ${verdict}${verdict === expected ? '' : `, EXPECTED ${expected}`}`);
}

for (const [name, scenario] of Object.entries(SCENARIOS) as [string, Scenario][]) {
  console.log(name);
  const verdicts = await prove(await modelOf(scenario));
  for (const query of QUERIES)
    tell(query, verdicts[query], scenario.refuted.includes(query) ? 'refuted' : 'holds');
}
for (const [name, mutant] of Object.entries(MUTANTS)) {
  console.log(`mutant: ${name}`);
  const verdicts = await prove(await modelOf(SCENARIOS[mutant.in], mutant.change));
  tell(mutant.refutes, verdicts[mutant.refutes], 'refuted');
}
process.exitCode = isAsExpected ? 0 : 1;
