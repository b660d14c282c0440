import type { AnswerLost, CallOutcome } from './facts.ts';
import { failure } from './failure.ts';

const MAY_HAVE_RUN = 'The call may have been carried out.';
const REPEATED = 'To repeat it is a new call, with a new proof: do so if it may happen twice.';
const CALL_OUTCOMES = {
  not_received: 'Whoever answers for the daemon says that it did not receive the call; that may be wrong.',
  not_kept: 'The daemon keeps no answers.',
  not_understood:
    'The question about it was not answered: the daemon keeps no answers, or a gateway does not pass on /.well-known/ori/.',
  lost: 'The daemon has no answer to it either.',
  carried_out: 'The call was carried out.',
  too_large: 'The call was carried out, and the daemon does not keep so large an answer.',
  running: 'The call is still running.',
  nothing: 'The daemon did not tell what became of it.',
} satisfies Record<CallOutcome, string>;
const IS_CARRIED_OUT: ReadonlySet<CallOutcome> = new Set(['carried_out', 'too_large', 'running']);

/** What is known of a call, in a sentence. */
export function tellOutcome(outcome: CallOutcome, asked?: number): string {
  const told = CALL_OUTCOMES[outcome];
  return asked === undefined ? told : told.replace('was not answered', `got ${asked}`);
}

function tellLoss({ outcome, asked, sends = 1, isBegun = false }: AnswerLost): string {
  return [
    isBegun ? 'The output is incomplete.' : '',
    outcome === undefined ? '' : tellOutcome(outcome, asked),
    sends > 1 ? `It was sent ${sends} times.` : '',
    outcome !== undefined && IS_CARRIED_OUT.has(outcome) ? '' : MAY_HAVE_RUN,
    REPEATED,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

export const ANSWER_LOST = failure.answerLost<AnswerLost>({
  what: ({ address, why, isBegun = false }) =>
    `The answer of the daemon at ${address} ${isBegun ? 'was cut off' : 'is lost'}: ${why}.`,
  next: tellLoss,
});
