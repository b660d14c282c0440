import { isNotCarriedOut } from '../core/failures/daemon-advice.ts';
import type { CallOutcome } from '../core/failures/facts.ts';
import { retryAfterSeconds } from '../core/refusal.ts';

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
/** How long a daemon that says nothing is asked if there is an answer: a gateway that has no daemon says so to a question too. */
export const DOUBT_SECONDS = 5;
/** A call, and once more what was not received or not carried out: whoever lies in between gets no third one. */
export const SENDS_MAX = 2;

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly code?: string | undefined;
}

/** What came back to a call whose proof was sent. REPLAY-STORES.md, "For clients", has the same rows. */
export type Evidence = 'answered' | 'refused' | 'unproven' | 'late' | 'repeated' | 'failed' | 'lost';

interface Rule {
  /** For how long the daemon may be asked, in seconds, if it does not answer; 0: it is not asked. */
  readonly askSeconds: number;
  /** If the daemon says that it did not receive the call. */
  readonly ifNotReceived: 'sign' | 'give' | 'lose';
  /** If nobody knows what became of it. */
  readonly ifUnknown: 'give' | 'lose';
}

const RULES: Readonly<Record<Evidence, Rule>> = {
  answered: { askSeconds: 0, ifNotReceived: 'give', ifUnknown: 'give' },
  refused: { askSeconds: 0, ifNotReceived: 'give', ifUnknown: 'give' },
  unproven: { askSeconds: Number.POSITIVE_INFINITY, ifNotReceived: 'give', ifUnknown: 'lose' },
  late: { askSeconds: DOUBT_SECONDS, ifNotReceived: 'give', ifUnknown: 'give' },
  repeated: { askSeconds: Number.POSITIVE_INFINITY, ifNotReceived: 'lose', ifUnknown: 'lose' },
  failed: { askSeconds: DOUBT_SECONDS, ifNotReceived: 'sign', ifUnknown: 'give' },
  lost: { askSeconds: Number.POSITIVE_INFINITY, ifNotReceived: 'sign', ifUnknown: 'lose' },
};

/** What is known when a step is chosen. */
export interface Known {
  /** What the daemon said when it was asked; absent before. */
  readonly outcome?: QuestionAnswer['outcome'] | undefined;
  /** It kept answers when this profile called it before. Otherwise anybody could have said that the call was not received. */
  readonly keepsAnswers: boolean;
  /** How often the call was sent. */
  readonly sends: number;
}

/** Ask; give what came back; give the kept answer; sign and send again; or say that the answer is lost. */
export type Step = { readonly ask: number } | 'give' | 'give_kept' | 'sign' | 'lose';

/** What is done next about a call, for every command. */
export function stepAfter(evidence: Evidence, { outcome, keepsAnswers, sends }: Known): Step {
  const { askSeconds, ifNotReceived, ifUnknown } = RULES[evidence];
  if (askSeconds === 0) return 'give';
  if (outcome === undefined) return { ask: askSeconds };
  if (outcome === 'kept') return 'give_kept';
  if (outcome === 'not_kept' || outcome === 'not_understood' || outcome === 'nothing') return ifUnknown;
  if (outcome !== 'not_received') return 'lose';
  if (ifNotReceived !== 'sign') return ifNotReceived;
  return keepsAnswers && sends < SENDS_MAX ? 'sign' : 'lose';
}

/** What an answer is evidence of. Its whole head has arrived, and of a refusal the beginning, which has the code. */
export function evidenceOf({ status, code }: Answered): Evidence {
  if (code === 'nonce_replayed' && status === 401) return 'repeated';
  if (code === 'proof_expired' && status === 401) return 'late';
  if (isNotCarriedOut(status, code)) return 'refused';
  return status >= 500 || GIVEN_UP.has(status) ? 'failed' : 'answered';
}

/** With which servers say that a request took too long, or that its client left: 408, nginx's 499, AWS' 460. */
const GIVEN_UP = new Set([408, 460, 499]);

/** Refusals of a question that a new proof can change. */
const PASSING = new Set(['401 proof_before_fence', '401 nonce_replayed']);
const OUTCOMES = new Map<string, CallOutcome>([
  ['404 call_not_received', 'not_received'],
  ['404 answers_not_kept', 'not_kept'],
  ['409 call_running', 'running'],
  ['410 answer_lost', 'lost'],
  ['410 answer_too_large', 'too_large'],
]);

/** For whom a proof was made, and when, in Unix seconds. */
interface Signed {
  readonly user: string;
  readonly signedAt: number;
}

/** What a daemon answered to a question. */
export interface QuestionAnswer {
  readonly outcome: 'kept' | CallOutcome;
  /** Of an answer that is none to a question. */
  readonly status?: number;
  /** Whether to ask again, and after how many seconds if it said so. */
  readonly isFinal: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * What the answer to a question says. That the call was not received is certain only for a question of the same person, soon after it.
 */
export function judgeQuestion(answer: Answered, call: Signed, question: Signed): QuestionAnswer {
  const { status, code, headers } = answer;
  if (headers['ori-answer'] === 'kept') return { outcome: 'kept', isFinal: true };
  const said = `${status} ${code}`;
  const outcome = OUTCOMES.get(said);
  const lateSeconds = question.signedAt - call.signedAt;
  const isCertain = question.user === call.user && lateSeconds >= 0 && lateSeconds <= CERTAIN_SECONDS;
  if (outcome === 'not_received' && !isCertain) return { outcome: 'lost', isFinal: true };
  if (outcome !== undefined && outcome !== 'running') return { outcome, isFinal: true };
  // What a gateway says in place of the daemon is no answer to a question, as it is none to a call.
  const isOfGateway = evidenceOf(answer) === 'failed' && code !== 'internal_error';
  const isPassing = PASSING.has(said) || status === 429 || status === 503 || isOfGateway;
  if (outcome === undefined && !isPassing) return { outcome: 'not_understood', status, isFinal: true };
  const seconds = retryAfterSeconds(headers);
  return { outcome: outcome ?? 'nothing', isFinal: false, retryAfterSeconds: seconds };
}

/** Whether an answer shows that its daemon keeps answers: it kept this one, or says that it keeps it. */
export function showsKeeper({ headers }: Answered): boolean {
  return headers['ori-answer'] === 'kept' || headers['ori-answer'] === 'recorded';
}
