import { readFileSync } from 'node:fs';
import type { Query, ScenarioName } from './scenarios.ts';

/** A check that is missing, and the promise that falls with it. */
export interface Mutant {
  readonly in: ScenarioName;
  /** Each text occurs once in the scenario, and is replaced. */
  readonly change: Readonly<Record<string, string>>;
  readonly refutes: Query;
}

const textOf = (lines = '') => lines.replaceAll(/^[-+] ?/gm, '').slice(0, -1);

function mutantOf(paragraph: string): [name: string, Mutant] {
  const [, name, scenario, query, changes] =
    /^# (.+)\nin (.+)\nrefutes (.+)\n((?:.*\n)+)$/.exec(`${paragraph}\n`) ?? [];
  const change = Array.from((changes ?? '').matchAll(/((?:-.*\n)+)((?:\+.*\n)*)/g), ([, before, after]) => [
    textOf(before),
    textOf(after),
  ]);
  return [
    String(name),
    { in: scenario as ScenarioName, change: Object.fromEntries(change), refutes: query as Query },
  ];
}

/** Those of mutants.txt, by their names: what is missing, in which scenario, what it refutes, and a change of protocol.pv as diff writes it. */
export const MUTANTS: Readonly<Record<string, Mutant>> = Object.fromEntries(
  readFileSync(new URL('mutants.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n\n')
    .map(mutantOf),
);
