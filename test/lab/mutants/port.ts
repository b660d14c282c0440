import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DriverError, startDriver } from '../../conformance/driver.ts';
import { ask, type Question } from '../../conformance/judge.ts';
import { openPorts } from '../../conformance/ports/open-ports.ts';
import { type Command, exchangesOf } from '../../conformance/protocol.ts';
import { TRIALS } from '../../conformance/races.ts';
import { ROOTED_SETS, SCENARIOS } from '../../vectors/read.ts';
import { type Mutant, mutantsOf } from './operators.ts';

/** A port whose sources are mutated. */
interface Subject {
  readonly files: readonly string[];
  /** Lines that are not mutated. */
  readonly skip: RegExp;
  /** Fetching is covered by tests, not by verdicts: from here to there. */
  readonly fetching?: readonly [from: string, to: string];
  /** The command of a copy of the folder. Throws if the copy does not compile. */
  command(conform: readonly string[], copy: string): readonly string[];
}

const SUBJECTS: Readonly<Record<string, Subject>> = {
  'Python port': {
    files: ['oriproof.py'],
    skip: /super\(\)|lru_cache|^FLAGS/,
    fetching: ['class NoRedirect', '# --- The replay store'],
    command: ([python = ''], copy) => [python, '-B', join(copy, 'conform.py')],
  },
  'Go port': {
    files: ['keys.go', 'rooted.go', 'store.go', 'verifier.go'],
    skip: /errors = |^import|^\t"/,
    command(_conform, copy) {
      execFileSync('go', ['build', '-o', 'mutant', '.'], { cwd: copy, stdio: 'ignore' });
      return [join(copy, 'mutant'), 'conform'];
    },
  },
};

export const PORTS = Object.keys(SUBJECTS);

export interface Fate {
  readonly mutant: Mutant;
  /** What it answered wrongly first. */
  readonly killer: string | undefined;
}

/** The outcome of each bug in a port that compiles. Empty if its toolchain is not installed. */
export async function portMutants(name: string, threads: number, every: number): Promise<Fate[]> {
  const port = openPorts().find((each) => each.name === name);
  const subject = SUBJECTS[name];
  if (port === undefined || subject === undefined) return [];
  const folder = join(
    import.meta.dirname,
    '../../conformance/ports',
    name.replace(' port', '').toLowerCase(),
  );
  const mutants = subject.files
    .flatMap((file) => drawnFrom(join(folder, file), subject))
    .filter((_, index) => index % every === 0);
  const questions = questionsOf();
  const queue = [...mutants];
  const fates: Fate[] = [];
  const run = async (): Promise<void> => {
    const home = mkdtempSync(join(tmpdir(), 'ori-mutant-'));
    cpSync(folder, home, { recursive: true });
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const { file, start, end, to } = mutant;
      const text = readFileSync(file, 'utf8');
      const copy = join(home, basename(file));
      writeFileSync(copy, text.slice(0, start) + to + text.slice(end));
      try {
        const command = subject.command(port.conform, home);
        fates.push({ mutant, killer: await killerOf(command, questions) });
      } catch (error) {
        if (!(error instanceof Error && 'status' in error)) throw error;
      }
      writeFileSync(copy, text);
      if (fates.length % 50 === 0) console.log(`${fates.length} of ${mutants.length}`);
    }
    rmSync(home, { recursive: true });
  };
  await Promise.all(Array.from({ length: threads }, run));
  return fates;
}

function drawnFrom(file: string, { skip, fetching }: Subject): Mutant[] {
  const text = readFileSync(file, 'utf8');
  const [from, to] = fetching?.map((part) => text.indexOf(part)) ?? [];
  const isFetching = ({ start }: Mutant) =>
    from !== undefined && to !== undefined && start >= from && start < to;
  return mutantsOf(file, text, skip).filter((mutant) => !isFetching(mutant));
}

function questionsOf(): Question[] {
  const questions: Question[] = SCENARIOS.map((scenario) => ({
    ...scenario,
    exchanges: exchangesOf(scenario),
  }));
  questions.push(...TRIALS.filter(({ exchanges }) => exchanges.length < 1000));
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
    for (const { title, baseUrl, internId, roots, answers } of ROOTED_SETS) {
      const url = `${baseUrl}/interns/${internId}/daemon/jwks.json`;
      const asked = { do: 'rooted', url, roots, answers } as unknown as Command;
      const given = (await driver.ask(asked)) as { verdicts?: unknown[]; untils?: unknown[] };
      const isRight = answers.every(
        ({ expect, or = expect, until }, at) =>
          [expect, or].some((code) => code === given.verdicts?.[at]) &&
          (until === undefined || given.untils?.[at] === until),
      );
      if (!isRight) return title;
    }
    return undefined;
  } catch (error) {
    if (error instanceof DriverError) return error.message;
    throw error;
  }
}
