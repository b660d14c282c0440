import type { CallOutcome } from './failures/facts.ts';
import { retryAfterSeconds } from './refusal.ts';

/** Where a daemon is asked what became of a call. */
export function questionPath(nonce: string): string {
  return `/.well-known/ori/calls/${nonce}`;
}

/** A daemon answers a question at once, unlike a call. */
export const QUESTION_SECONDS = 10;

/**
 * A question that is signed this long after its call, in seconds, is too late for `call_not_received` to be certain: the store of the
 * daemon may have been lost since.
 */
const CERTAIN_SECONDS = 300;

/** The statuses with which gateways answer in place of a daemon that they have not reached, or have not understood. */
const GATEWAY = /^(?:50[234]|52[0-7])$/;
/** Refusals of a question that a new proof can change. */
const PASSING = new Set(['401 proof_before_fence', '401 nonce_replayed']);
const OUTCOMES = new Map<string, CallOutcome | 'not_received'>([
  ['404 call_not_received', 'not_received'],
  ['409 call_running', 'running'],
  ['410 answer_lost', 'lost'],
  ['410 answer_too_large', 'too_large'],
]);

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly code?: string | undefined;
}

/** For whom a proof was made, and when, in Unix seconds. */
interface Signed {
  readonly user: string;
  readonly signedAt: number;
}

/** What a daemon answered to a question. */
export interface QuestionAnswer {
  readonly outcome: 'kept' | 'not_received' | CallOutcome;
  /** Whether to ask again, and after how many seconds if it said so. */
  readonly isFinal: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/** Whether an answer to a call may be that of a gateway, which does not know what became of it. */
export function isOfGateway({ status, code }: Answered): boolean {
  return code === undefined && GATEWAY.test(String(status));
}

/**
 * What the answer to a question says. That the call was not received is certain only for a question of the same person, soon after it.
 */
export function judgeQuestion(answer: Answered, call: Signed, question: Signed): QuestionAnswer {
  if (answer.headers['ori-answer'] === 'kept') return { outcome: 'kept', isFinal: true };
  const said = `${answer.status} ${answer.code}`;
  const outcome = OUTCOMES.get(said);
  const lateSeconds = question.signedAt - call.signedAt;
  const isCertain = question.user === call.user && lateSeconds <= CERTAIN_SECONDS;
  if (outcome === 'not_received' && !isCertain) return { outcome: 'lost', isFinal: true };
  const isPassing = PASSING.has(said) || answer.status === 429 || GATEWAY.test(String(answer.status));
  if (outcome !== undefined && outcome !== 'running') return { outcome, isFinal: true };
  if (outcome === undefined && !isPassing) return { outcome: 'not_kept', isFinal: true };
  const seconds = retryAfterSeconds(answer.headers);
  return { outcome: outcome ?? 'nothing', isFinal: false, retryAfterSeconds: seconds };
}
