import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { drawQuestion } from '../generated.ts';
import { createJudge } from '../judge.ts';
import { type Command, type Exchange, exchangesOf, readScenarios, type Verdict } from '../protocol.ts';
import { TRIALS } from '../races.ts';
import type { Mutant } from './operators.ts';

/** Loads a verifier with one bug beside the original: its module URLs contain `?mutant=N`. */
const TAG = /\?mutant=\d+$/;
const BROKEN_PARTS = /\/(?:libs\/public\/(?:proof|verifier)\/src|test\/conformance\/subject)\b.*\.ts$/;
const GENERATED = 50;

let current: Mutant | undefined;
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const tag = TAG.exec(context.parentURL ?? '')?.[0];
    return tag !== undefined && BROKEN_PARTS.test(resolved.url)
      ? { ...resolved, url: resolved.url + tag }
      : resolved;
  },
  load(url, context, next) {
    if (!TAG.test(url)) return next(url, context);
    const file = fileURLToPath(url.replace(TAG, ''));
    const sound = readFileSync(file, 'utf8');
    const source =
      current?.file === file ? sound.slice(0, current.start) + current.to + sound.slice(current.end) : sound;
    return { format: 'module', source: stripTypeScriptTypes(source), shortCircuit: true };
  },
});

interface Question {
  title: string;
  exchanges: readonly Exchange[];
  others?: string | undefined;
  kills: number;
}

const QUESTIONS: Question[] = [
  ...readScenarios().map((scenario) => ({
    title: scenario.title,
    exchanges: exchangesOf(scenario),
    kills: 0,
  })),
  ...TRIALS.filter(({ exchanges }) => exchanges.length < 1000).map((trial) => ({ ...trial, kills: 0 })),
];
for (let index = 0; index < GENERATED; index++) {
  QUESTIONS.push({ ...(await drawQuestion(`mutants ${index}`, ['store-clock'])), kills: 0 });
}

type Subject = (command: Command) => Verdict | Promise<Verdict>;

/** The title of the first scenario with a different answer; undefined if the bug survives them all. */
async function killerOf(number: number): Promise<string | undefined> {
  const { createSubject: createBroken }: { createSubject: () => Subject } = await import(
    `../subject.ts?mutant=${number}`
  );
  // The scenarios that detected earlier bugs are likely to detect this one first.
  for (const question of QUESTIONS.toSorted((a, b) => b.kills - a.kills)) {
    const { title, exchanges, others } = question;
    const ask = createBroken();
    const judge = createJudge(others);
    for (const exchange of exchanges) {
      if (judge(exchange, await ask(exchange.command)) === undefined) continue;
      question.kills += 1;
      return title;
    }
  }
  return undefined;
}

parentPort?.on('message', async ({ number, mutant }: { number: number; mutant: Mutant }) => {
  current = mutant;
  try {
    parentPort?.postMessage({ number, killer: await killerOf(number) });
  } catch (error) {
    parentPort?.postMessage({
      number,
      killer: `it broke: ${error instanceof Error ? error.message : error}`,
    });
  }
});
parentPort?.postMessage({ ready: true });
