import { isNonce, UnavailableError } from '@ori/proof/wire';
import { recordAnswer } from '#record-node';
import type { Answers, AnswersPolicy, KeepAnswers } from '../kept-answers.ts';
import { requireNames } from '../options.ts';
import { isQuestion, QUESTION_PATH } from '../question-path.ts';
import { type Answer, errorAnswer } from '../refusal.ts';
import type { AnswerStore, KeptAnswer, Question } from '../replay/replay-store.ts';
import type { VerifiedProof } from '../verified-proof.ts';
import { createKeeper } from './keeper.ts';
import { recordResponse } from './record-response.ts';
import { type Limits, Recorder } from './recorder.ts';

/** Limits of what is kept. */
export interface AnswersOptions {
  /** Largest body that is kept; 262144 by default. A larger answer is only remembered as such. */
  bytesMax?: number | undefined;
  /** Also keeps answers with `Cache-Control: no-store`; false by default. */
  noStore?: boolean | undefined;
}

const BYTES_MAX = 262_144;

/**
 * The option `answers` of `createVerifier`: keeps the answer of each call for ten minutes, so that its caller can ask for it. The replay
 * store must have `answers`, as this package's do; with `acceptV1`, `createVerifier` then throws a TypeError. The adapters do the rest.
 *
 * @throws {TypeError} for an unknown option, or a value out of range
 * @example createVerifier({ internId, keys, replay: memoryReplayStore(), answers: keepAnswers() })
 */
export function keepAnswers(options: AnswersOptions = {}): KeepAnswers {
  requireNames(options, ['bytesMax', 'noStore'], 'keepAnswers');
  const { bytesMax = BYTES_MAX, noStore = false } = options;
  if (!(Number.isSafeInteger(bytesMax) && bytesMax >= 0)) {
    throw new TypeError('keepAnswers: expected a number of bytes for bytesMax');
  }
  if (typeof noStore !== 'boolean') throw new TypeError('keepAnswers: expected true or false for noStore');
  return (policy) => createAnswers(policy, { bytesMax, noStore });
}

function createAnswers(policy: AnswersPolicy, limits: Limits): Answers {
  const { answers: store } = policy.replay;
  if (store === undefined) throw new TypeError('answers: this replay store cannot keep them');
  if (policy.acceptV1)
    throw new TypeError('answers: a question cannot void a version 1 proof, so acceptV1 must be off');
  const keep = createKeeper(store);

  const record = ({ user, nonce = '' }: VerifiedProof) =>
    new Recorder(limits, (end) => keep({ policy, user, nonce }, end));

  return {
    ask({ user, path = '', issuedAt }) {
      if (!isQuestion(path)) return undefined;
      const nonce = path.slice(QUESTION_PATH.length);
      const [timestamp, nowMs] = [issuedAt.getTime() / 1000, policy.now()];
      return answerTo(store, { policy, user, nonce, timestamp, nowMs });
    },
    record,
    recordNode(response, proof) {
      const recorder = record(proof);
      recordAnswer(response as Parameters<typeof recordAnswer>[0], recorder);
      return recorder;
    },
    recordResponse: (request, proof, answered) => recordResponse(record(proof), request, answered),
  };
}

async function answerTo(store: AnswerStore, question: Question): Promise<Answer> {
  // No proof has such a nonce.
  if (!isNonce(question.nonce)) return REFUSALS.not_received;
  try {
    const end = await store.ask(question);
    if (typeof end === 'string' && Object.hasOwn(REFUSALS, end)) return REFUSALS[end];
    const { status, headers, body } = end as KeptAnswer;
    const isSendable = Number.isInteger(status) && status >= 200 && status < 1000 && areHeaders(headers);
    if (!(isSendable && body instanceof Uint8Array))
      throw new TypeError('ask: expected from the replay store how the call ended');
    return { status, headers: { ...headers, 'ori-answer': 'kept' }, body };
  } catch (cause) {
    if (cause instanceof UnavailableError) throw cause;
    throw new UnavailableError('replay_store_unavailable', 'the replay store failed', { cause });
  }
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whoever can write to the store may have put there what no server can send. */
function areHeaders(headers: object): boolean {
  return Object.entries(headers).every(
    ([name, value]) => NAME.test(name) && typeof value === 'string' && VALUE.test(value),
  );
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
