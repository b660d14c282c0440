import type { Driver } from './driver.ts';
import { differenceOf, type Exchange, type Verdict } from './protocol.ts';

/** The result of one scenario. */
export interface Result {
  readonly section: string;
  readonly title: string;
  readonly steps: number;
  /** The differences, as text. */
  readonly differences: readonly string[];
  /** `expected -> got` of the first difference. */
  readonly codes?: string;
  readonly skipped?: string;
}

export interface Question {
  readonly section: string;
  readonly title: string;
  readonly exchanges: readonly Exchange[];
  /** In a race: the refusal code of all requests except the accepted one. */
  readonly others?: string | undefined;
}

/** Sends all commands at once, in order, and compares the answers. Throws DriverError. */
export async function ask(driver: Driver, question: Question): Promise<Result> {
  const { section, title, exchanges, others } = question;
  const answers = await Promise.all(exchanges.map(({ command }) => driver.ask(command)));
  const judge = createJudge(others);
  const differences: string[] = [];
  let codes: string | undefined;
  for (const [index, { command, expected }] of exchanges.entries()) {
    const answer = answers[index] ?? { verdict: 'nothing' };
    const difference = judge({ command, expected }, answer);
    if (difference === undefined) continue;
    codes ??= `${expected.verdict} -> ${answer.verdict}`;
    differences.push(`step ${index} (${command.do}): ${difference}`);
  }
  return { section, title, steps: exchanges.length, differences, ...(codes === undefined ? {} : { codes }) };
}

/** Compares the answers of one scenario, in order. Whatever is expected, no proof may be accepted twice by one store (N7). */
export function createJudge(others?: string): (exchange: Exchange, answer: Verdict) => string | undefined {
  const accepted = new Set<string>();
  return ({ command, expected }, answer) => {
    if (command.do === 'race') return raceDifference(answer, others);
    if (command.do === 'start' || command.do === 'restart') accepted.clear();
    const { internId, nonce, issuedAt } = answer.proof ?? {};
    if (nonce !== undefined && answer.verdict === 'ok') {
      const proof = `${internId} ${nonce} ${issuedAt}`;
      if (accepted.has(proof)) return 'accepted twice';
      accepted.add(proof);
    }
    return differenceOf(expected, answer);
  };
}

function raceDifference({ verdicts = [] }: Verdict, others: string | undefined): string | undefined {
  const given = verdicts.map(({ verdict }) => verdict).toSorted();
  const expected = [...given.slice(1).fill(others ?? ''), 'ok'].toSorted();
  return given.length > 0 && given.join() === expected.join()
    ? undefined
    : `a race ended with ${given.join()}`;
}
