import { ANSWER_PROOF, type AnswerKey, createAnswerKey } from '@ori/proof/answer-proof';
import { bodySha256, isNonce, UnavailableError } from '@ori/proof/wire';
import { recordAnswer } from '#record-node';
import type { Answers, AnswersPolicy, KeepAnswers } from '../kept-answers.ts';
import { requireNames } from '../options.ts';
import { isQuestion, QUESTION_PATH } from '../question-path.ts';
import { type Answer, errorAnswer } from '../refusal.ts';
import type { AnswerStore, CallEnd, KeptAnswer, Question } from '../replay/replay-store.ts';
import type { VerifiedProof } from '../verified-proof.ts';
import { createKeeper } from './keeper.ts';
import { type Prover, proofOf } from './prover.ts';
import { recordResponse } from './record-response.ts';
import { type Limits, Recorder } from './recorder.ts';

/** What is kept, and whether it is proven. */
export interface AnswersOptions {
  /** Largest body that is kept; 262144 by default. A larger answer is only remembered as such. */
  bytesMax?: number | undefined;
  /** Also keeps answers with `Cache-Control: no-store`; false by default. */
  noStore?: boolean | undefined;
  /**
   * Proves each answer to an accepted proof: the 32-byte seed, or the text of the file that `ori-admin answer-key make` writes. The same
   * for all processes of the daemon.
   *
   * @example keepAnswers({ key: readFileSync(process.env.ANSWER_KEY_FILE, 'utf8') })
   */
  key?: Uint8Array | string | undefined;
}

const BYTES_MAX = 262_144;

/**
 * The option `answers` of `createVerifier`: keeps the answer of each call for ten minutes, so that its caller can ask for it. The replay
 * store must have `answers`, as this package's do; with `acceptV1`, `createVerifier` then throws a TypeError. The adapters do the rest.
 *
 * @throws {TypeError} for an unknown option, or a value out of range
 * @throws {KeyError} `key_length`, `key_encoding`: no such key. The message contains nothing of it
 * @example createVerifier({ internId, keys, replay: memoryReplayStore(), answers: keepAnswers() })
 */
export function keepAnswers(options: AnswersOptions = {}): KeepAnswers {
  requireNames(options, ['bytesMax', 'noStore', 'key'], 'keepAnswers');
  const { bytesMax = BYTES_MAX, noStore = false, key } = options;
  if (!(Number.isSafeInteger(bytesMax) && bytesMax >= 0)) {
    throw new TypeError('keepAnswers: expected a number of bytes for bytesMax');
  }
  if (typeof noStore !== 'boolean') throw new TypeError('keepAnswers: expected true or false for noStore');
  if (key !== undefined && typeof key !== 'string' && !(key instanceof Uint8Array))
    throw new TypeError('keepAnswers: expected 32 bytes or a text for key');
  const answerKey = key === undefined ? undefined : createAnswerKey(key);
  return (policy) => createAnswers(policy, { bytesMax, noStore }, answerKey);
}

function createAnswers(policy: AnswersPolicy, limits: Limits, key: AnswerKey | undefined): Answers {
  const { answers: store } = policy.replay;
  if (store === undefined) throw new TypeError('answers: this replay store cannot keep them');
  if (policy.acceptV1)
    throw new TypeError('answers: a question cannot void a version 1 proof, so acceptV1 must be off');
  const keep = createKeeper(store);
  const signed = new WeakMap<VerifiedProof, Uint8Array>();

  /** Once for each proof: a map of all calls since the last garbage collection takes longer than one of those that run. */
  function proverFor(proof: VerifiedProof): Prover | undefined {
    const bytes = signed.get(proof);
    if (key === undefined || bytes === undefined) return undefined;
    signed.delete(proof);
    return { key, call: bodySha256(bytes) };
  }

  function record(proof: VerifiedProof): Recorder {
    const { user, nonce = '' } = proof;
    const settle = (end: CallEnd, own: string | undefined) =>
      keep({ policy, user, nonce }, withProof(end, own));
    return new Recorder(limits, settle, proverFor(proof));
  }

  return {
    accept(proof, signingInput) {
      if (key !== undefined) signed.set(proof, signingInput);
    },
    ask(proof) {
      const { user, path = '', issuedAt } = proof;
      if (!isQuestion(path)) return undefined;
      const isForProof = path.endsWith(OF_PROOF);
      const nonce = path.slice(QUESTION_PATH.length, isForProof ? -OF_PROOF.length : undefined);
      const [timestamp, nowMs] = [issuedAt.getTime() / 1000, policy.now()];
      const answer = answerTo(store, { policy, user, nonce, timestamp, nowMs }, isForProof);
      return answer.then((one) => proven(one, proverFor(proof)));
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

/** After the nonce of a question for the proof of an answer alone. */
const OF_PROOF = '/proof';

/** Of an answer that is not kept, the proof is kept in the place of one: for whoever does not know that, a refusal. */
function withProof(end: CallEnd, proof: string | undefined): CallEnd {
  if (proof === undefined) return end;
  const { status, headers, body } =
    typeof end === 'object' ? end : { ...REFUSALS[end], body: new TextEncoder().encode(REFUSALS[end].body) };
  const alone = typeof end === 'string' && { 'ori-answer': end };
  return { status, headers: { ...headers, ...alone, [ANSWER_PROOF]: proof }, body };
}

/** A kept answer has the proof of its own call; anything else is the answer to the question. */
function proven(answer: Answer, prover: Prover | undefined): Answer {
  if (prover === undefined || ANSWER_PROOF in answer.headers) return answer;
  const body = typeof answer.body === 'string' ? new TextEncoder().encode(answer.body) : answer.body;
  const proof = proofOf(prover, answer.status, answer.headers, body);
  return proof === undefined ? answer : { ...answer, headers: { ...answer.headers, [ANSWER_PROOF]: proof } };
}

async function answerTo(store: AnswerStore, question: Question, isForProof: boolean): Promise<Answer> {
  // No proof has such a nonce.
  if (!isNonce(question.nonce)) return REFUSALS.not_received;
  try {
    const end = await store.ask(question);
    if (typeof end === 'string' && Object.hasOwn(REFUSALS, end)) return REFUSALS[end];
    const { status, headers, body } = end as KeptAnswer;
    const isSendable = Number.isInteger(status) && status >= 200 && status < 1000 && areHeaders(headers);
    if (!(isSendable && body instanceof Uint8Array))
      throw new TypeError('ask: expected from the replay store how the call ended');
    const { [ANSWER_PROOF]: proof, 'ori-answer': alone } = headers;
    if (isForProof)
      return proof === undefined
        ? REFUSALS.lost
        : { status: 200, headers: { [ANSWER_PROOF]: proof }, body: '' };
    if (alone === 'lost' || alone === 'too_large') return REFUSALS[alone];
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
