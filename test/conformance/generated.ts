import type { Question } from './judge.ts';
import type { Command, Configuration, Exchange } from './protocol.ts';
import { drawScenario } from './requests.ts';
import { createSubject } from './subject.ts';

/** A generated scenario with the answers of our own verifier. */
export async function drawQuestion(seed: string, features: readonly string[]): Promise<Question> {
  const subject = createSubject();
  const floor = createFloor();
  const exchanges: Exchange[] = [];
  const refused = new Set<string>();
  for (const command of drawScenario(seed, features)) {
    if (command.do === 'finish' && refused.has(command.request)) continue;
    const answer = await subject(command);
    const or = floor(command, answer.verdict);
    exchanges.push({ command, expected: or === undefined ? answer : { ...answer, or } });
    if (command.do === 'begin' && answer.verdict !== 'continue') refused.add(command.request);
    if (command.do === 'start' && answer.verdict === 'refused') break;
  }
  return { section: 'generated', title: seed, exchanges };
}

/** What a store may answer to a proof that it may have forgotten by a clock that was ahead: V30 leaves the floor open. */
const BELOW_FLOOR = ['ok', 'nonce_replayed', 'proof_expired', 'proof_before_fence'];
const BODY_SECONDS = 30;

/** Follows the highest floor that V30 permits, and returns the other verdicts that it permits for a command. */
function createFloor(): (command: Command, verdict: string) => readonly string[] | undefined {
  let current: Configuration;
  let highest = Number.NEGATIVE_INFINITY;
  const begun = new Map<string, { timestamp: number; now: number; verifier: Configuration }>();

  return (command, verdict) => {
    if (command.do === 'start' || command.do === 'verifier') current = command.verifier;
    if (command.do === 'start' || command.do === 'restart') highest = Number.NEGATIVE_INFINITY;
    if (command.do === 'begin') {
      const { rawHeaders, now } = command;
      begun.set(command.request, { timestamp: timestampOf(rawHeaders), now, verifier: current });
    }
    if (command.do !== 'present' && command.do !== 'finish') return undefined;
    const { now, storeNow = now } = command;
    const head = command.do === 'finish' ? begun.get(command.request) : undefined;
    const { maxAgeSeconds = 60, clockToleranceSeconds = 2 } = head?.verifier ?? current;
    const timestamp = head?.timestamp ?? (command.do === 'present' ? timestampOf(command.rawHeaders) : 0);
    const horizon = storeNow - maxAgeSeconds - clockToleranceSeconds - BODY_SECONDS;
    highest = Math.max(highest, horizon);
    const isLate = head === undefined ? timestamp < now - maxAgeSeconds : now - head.now > BODY_SECONDS;
    if (isLate || timestamp <= horizon || timestamp > highest) return undefined;
    return BELOW_FLOOR.includes(verdict) ? BELOW_FLOOR : undefined;
  };
}

function timestampOf(rawHeaders: readonly string[]): number {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && /^x-ori-invoke-timestamp$/i.test(text));
  return Number(rawHeaders[at + 1] ?? Number.NaN);
}
