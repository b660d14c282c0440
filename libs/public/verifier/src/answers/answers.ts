import { isNonce, UnavailableError } from '@ori/proof/wire';
import type { Policy } from '../policy.ts';
import { type Answer, errorAnswer } from '../refusal.ts';
import type { AnswerStore, KeptAnswer, Question } from '../replay/replay-store.ts';
import type { VerifiedProof } from '../verified-proof.ts';
import { createKeeper } from './keeper.ts';
import { isQuestion, QUESTION_PATH } from './question-path.ts';
import { Recorder } from './recorder.ts';

/** Kept answers, for adapters. */
export interface Answers {
  /**
   * The answer to a question about another call of the same person; undefined if `proof` is for an ordinary call. Rejects with
   * UnavailableError if the store does not answer.
   */
  ask(proof: VerifiedProof): Promise<Answer> | undefined;
  /** Records the answer to an ordinary call. */
  record(proof: VerifiedProof): Recorder;
}

/** Undefined without the option `answers`. */
export function createAnswers({ answers, replay, ...policy }: Policy): Answers | undefined {
  const store = replay.answers;
  if (answers === undefined || store === undefined) return undefined;
  const keep = createKeeper(store);
  return {
    ask({ user, path = '', issuedAt }) {
      if (!isQuestion(path)) return undefined;
      const nonce = path.slice(QUESTION_PATH.length);
      const [timestamp, nowMs] = [issuedAt.getTime() / 1000, policy.now()];
      return answerTo(store, { policy, user, nonce, timestamp, nowMs });
    },
    record: ({ user, nonce = '' }) => new Recorder(answers, (end) => keep({ policy, user, nonce }, end)),
  };
}

async function answerTo(store: AnswerStore, question: Question): Promise<Answer> {
  // No proof has such a nonce.
  if (!isNonce(question.nonce)) return REFUSALS.not_received;
  try {
    const end = await store.ask(question);
    if (typeof end === 'string' && Object.hasOwn(REFUSALS, end)) return REFUSALS[end];
    const { status, headers, body } = end as KeptAnswer;
    if (!(status >= 200 && status < 1000 && body instanceof Uint8Array))
      throw new TypeError('ask: expected from the replay store how the call ended');
    return { status, headers: { ...headers, 'ori-answer': 'kept' }, body };
  } catch (cause) {
    if (cause instanceof UnavailableError) throw cause;
    throw new UnavailableError('replay_store_unavailable', 'the replay store failed', { cause });
  }
}

const REFUSALS = {
  running: errorAnswer(409, 'call_running', 'The call is running. Ask again after the time in Retry-After.', {
    'retry-after': '1',
  }),
  lost: errorAnswer(
    410,
    'answer_lost',
    'The proof is spent and no answer is kept. The call may have been carried out.',
  ),
  too_large: errorAnswer(
    410,
    'answer_too_large',
    'The call was answered, but its answer was too large to keep.',
  ),
  not_received: errorAnswer(
    404,
    'call_not_received',
    'The call was not received. Its proof is void. Sign again.',
  ),
} as const;
