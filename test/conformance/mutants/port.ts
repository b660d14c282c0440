import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DriverError, startDriver } from '../driver.ts';
import { drawQuestion } from '../generated.ts';
import { ask, type Question } from '../judge.ts';
import { openPorts } from '../ports/open-ports.ts';
import { exchangesOf, readScenarios } from '../protocol.ts';
import { TRIALS } from '../races.ts';
import { type Mutant, mutantsOf } from './operators.ts';

const GENERATED = 60;
/** Fetching keys is covered by tests, not by verdicts. */
const FETCHING = /^class NoRedirect/m;

/** The outcome of each bug in the Python port. Empty if Python is not installed. */
export async function portMutants(
  threads: number,
  every: number,
): Promise<{ mutant: Mutant; killer: string | undefined }[]> {
  const port = openPorts().find(({ name }) => name.startsWith('Python'));
  const [python = '', program = ''] = port?.conform ?? [];
  if (port === undefined) return [];
  const folder = join(program, '..');
  const file = join(folder, 'oriproof.py');
  const text = readFileSync(file, 'utf8');
  const fetching = text.slice(text.search(FETCHING), text.indexOf('# --- The replay store'));
  const from = text.indexOf(fetching);
  const mutants = mutantsOf(file, text, /super\(\)|lru_cache|^FLAGS/).filter(
    ({ start }, index) => (start < from || start >= from + fetching.length) && index % every === 0,
  );
  const questions = [...(await questionsOf())];
  const queue = [...mutants];
  const fates: { mutant: Mutant; killer: string | undefined }[] = [];
  const run = async (): Promise<void> => {
    const home = mkdtempSync(join(tmpdir(), 'ori-mutant-'));
    cpSync(folder, home, { recursive: true });
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      writeFileSync(
        join(home, 'oriproof.py'),
        text.slice(0, mutant.start) + mutant.to + text.slice(mutant.end),
      );
      fates.push({ mutant, killer: await killerOf([python, '-B', join(home, 'conform.py')], questions) });
      if (fates.length % 50 === 0) console.log(`${fates.length} of ${mutants.length}`);
    }
    rmSync(home, { recursive: true });
  };
  await Promise.all(Array.from({ length: threads }, run));
  return fates;
}

async function questionsOf(): Promise<Question[]> {
  const questions: Question[] = readScenarios().map((scenario) => ({
    ...scenario,
    exchanges: exchangesOf(scenario),
  }));
  questions.push(...TRIALS.filter(({ exchanges }) => exchanges.length < 1000));
  for (let index = 0; index < GENERATED; index++) {
    questions.push(await drawQuestion(`mutants ${index}`, ['store-clock']));
  }
  return questions;
}

async function killerOf(
  command: readonly string[],
  questions: readonly Question[],
): Promise<string | undefined> {
  await using driver = startDriver(command, 'ignore');
  try {
    for (const question of questions) {
      const { title, differences } = await ask(driver, question);
      if (differences.length > 0) return title;
    }
    return undefined;
  } catch (error) {
    if (error instanceof DriverError) return error.message;
    throw error;
  }
}
