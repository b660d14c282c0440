import { createChoices } from './choices.ts';
import type { Question } from './judge.ts';
import type { Exchange } from './protocol.ts';
import { drawScenario } from './requests.ts';
import { createSubject } from './subject.ts';

/** A generated scenario with the answers of our own verifier, and the others that SPEC.md permits. */
export async function drawQuestion(seed: string, features: readonly string[]): Promise<Question> {
  const subject = createSubject();
  const choices = createChoices();
  const exchanges: Exchange[] = [];
  const refused = new Set<string>();
  for (const command of drawScenario(seed, features)) {
    if (command.do === 'finish' && refused.has(command.request)) continue;
    const answer = await subject(command);
    const or = choices(command, answer.verdict);
    exchanges.push({ command, expected: or === undefined ? answer : { ...answer, or } });
    if (command.do === 'begin' && answer.verdict !== 'continue') refused.add(command.request);
    if (command.do === 'start' && answer.verdict === 'refused') break;
  }
  return { section: 'generated', title: seed, exchanges };
}
