import { createHash, hash } from 'node:crypto';
import { ANSWER_PROOF, readAnswerProof, verifyAnswer } from '@ori/proof/answer-proof';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { CliError, isCliError } from '../core/errors.ts';
import type { ProofRequest } from '../core/proof-request.ts';
import { retryAfterSeconds } from '../core/refusal.ts';
import { callOf } from '../core/signed-by.ts';
import { type DaemonAnswer, isGood } from '../delivery/daemon-answer.ts';
import type { Delivery } from '../delivery/deliver.ts';
import { QUESTION_SECONDS, questionPath } from '../delivery/evidence.ts';
import { type Attempt, pauseMs, waited } from '../delivery/questions.ts';
import type { Profile } from '../session/profile.ts';
import { answerKeysOf } from './answer-keys.ts';

/** What is read of an answer, and proven, before any of it is given. The rest of a longer one is proven at its end. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** How often a proof that did not come with its answer is asked for, and how often a question may be answered without one. */
const ASKED_MAX = 3;
const UNPROVEN = 'nothing proves it';
const ALTERED = 'what arrived is not what the daemon sent';
const NO_BODY = hash('sha256', '');

/** A call, with its proof if it was sent before. */
type Call = ProofRequest & { readonly proof: ProofHeaderValues | undefined };
/** A body, of which no more than this is needed. */
type Body = Parameters<typeof verifyAnswer>[1]['body'];

/** The delivery of a call as {@link provenDelivery}, if the daemon of its intern proves its answers. Throws as `answerKeysOf`. */
export async function requireProven(profile: Profile, baseUrl: string, call: Call, delivery: Delivery) {
  const of = { baseUrl, internId: call.internId };
  const keys = await answerKeysOf(profile, of);
  // A call that was sent is not refused for what is read of the keys afterwards.
  const renew = () =>
    answerKeysOf(profile, of, 0).catch((error) => {
      if (isCliError(error, 'root_vouches_not')) return keys;
      throw error;
    });
  return keys.length === 0 ? delivery : provenDelivery(delivery, call, keys, renew);
}

/**
 * The same delivery, of a daemon that proves its answers with one of these keys. Only what a signature fits is an answer; whatever else
 * arrives says nothing, and the daemon is asked.
 *
 * @param renew reads the keys again, when an answer has no proof by a known one
 */
export function provenDelivery(
  delivery: Delivery,
  call: Call,
  known: readonly string[],
  renew: () => Promise<readonly string[]>,
): Delivery {
  const { address, surroundings, isDiagnosing = false } = delivery;
  let keys = known;
  let { proof: sent } = call;
  /** What is given before it is proven. */
  let shown: DaemonAnswer | undefined;
  let unproven = 0;

  /** Why what arrived is not the answer to a request; undefined if it is. */
  function whyNot(
    request: ProofRequest,
    proof: ProofHeaderValues,
    { status, mediaType }: DaemonAnswer,
    body: Body,
    header: string,
  ): string | undefined {
    const { x = '', signature } = readAnswerProof(header) ?? {};
    if (signature === undefined || !keys.includes(x)) return UNPROVEN;
    const digest = hash('sha256', callOf(request, proof).signingInput);
    return verifyAnswer(x, { call: digest, status, mediaType, body }, signature) ? undefined : ALTERED;
  }

  /** The same, by the proof alone, for which the daemon is asked. */
  async function whyNotLater(proof: ProofHeaderValues, answer: DaemonAnswer, body: Body) {
    surroundings.terminal.detail('Asking for the proof of the answer.');
    let why: string | undefined = UNPROVEN;
    for (let asked = 0; asked < ASKED_MAX; asked += 1) {
      await waited(pauseMs(asked), surroundings.interrupted);
      try {
        const path = `${questionPath(String(proof['x-ori-invoke-nonce']))}/proof`;
        const { answer: said } = await delivery.ask(path, QUESTION_SECONDS);
        said?.end();
        const now = said && whyNot(call, proof, answer, body, proofIn(said));
        if (said !== undefined && now === undefined) return undefined;
        if (now === ALTERED) why = now;
      } catch (error) {
        if (isCliError(error, 'interrupted') || !(error instanceof CliError)) throw error;
      }
    }
    return why;
  }

  async function judged(attempt: Attempt): Promise<Attempt> {
    const { answer, lost, proof } = attempt;
    const isSought = isDiagnosing && answer?.code !== undefined;
    if (answer === undefined || lost !== undefined || isSought) return attempt;
    const header = proofIn(answer);
    const announced = readAnswerProof(header);
    if (announced === undefined || !keys.includes(announced.x)) {
      keys = await renew();
      if (keys.length === 0) return attempt;
    }
    const isSigned = announced?.signature !== undefined;
    const why = async (body: Body) =>
      isSigned ? whyNot(call, proof, answer, body, header) : whyNotLater(proof, answer, body);
    const given = (of: DaemonAnswer): Attempt => {
      async function* body() {
        const tally = createTally();
        for await (const chunk of of.body) {
          tally.add(chunk);
          yield chunk;
        }
        const loss = await why(tally.end());
        if (loss !== undefined) throw new CliError('answer_lost', { address, why: loss, isBegun: true });
      }
      shown = { ...of, body: body(), proven: 'at its end' };
      return { ...attempt, answer: shown, evidence: 'answered' };
    };
    if (!isSigned && isGood(answer) && delivery.isPassedOn?.(answer)) return given(answer);
    const { held, body } = await hold(answer).catch(asLost);
    if (held === undefined) return { ...attempt, lost: body };
    if (body === undefined) return given(held);
    const whole: Attempt = { ...attempt, answer: { ...held, proven: 'before' } };
    const lostFor = (reason: string) => new CliError('answer_lost', { address, why: reason });
    if (!isGood(answer) && announced === undefined) {
      const code = answer.code === undefined ? '' : ` (${answer.code})`;
      const reason = `the answer was ${answer.status}${code}, and ${UNPROVEN}`;
      return { ...whole, lost: lostFor(reason), evidence: 'unproven' };
    }
    const reason = await why(body);
    return reason === undefined ? { ...whole, evidence: 'answered' } : { ...whole, lost: lostFor(reason) };
  }

  return {
    ...delivery,
    keeper: { ...delivery.keeper, isKnown: () => keys.length > 0 || delivery.keeper.isKnown() },
    // Nobody proves a refusal.
    pauseNamed: (answer) => (keys.length > 0 && !isDiagnosing ? undefined : delivery.pauseNamed(answer)),
    isMissing: (answer) => answer.proven === undefined && delivery.isMissing?.(answer) === true,
    async send() {
      const attempt = await delivery.send();
      [sent, shown, unproven] = [attempt.proof, undefined, 0];
      return judged(attempt);
    },
    async ask(path, silenceSeconds) {
      const attempt = await delivery.ask(path, silenceSeconds);
      const { answer, proof } = attempt;
      if (keys.length === 0 || answer === undefined || answer.broken !== undefined) return attempt;
      const { held, body } = await hold(answer).catch(asLost);
      const isKept = answer.headers['ori-answer'] === 'kept';
      const [request, by = proof] = isKept ? [call, sent] : [{ ...call, path, bodySha256: NO_BODY }, proof];
      if (held && body && whyNot(request, by, held, body, proofIn(answer)) === undefined) {
        const isOther = isKept && shown !== undefined && shown.mediaType !== held.mediaType;
        return isOther
          ? { ...attempt, said: { outcome: 'lost', isFinal: true } }
          : { ...attempt, answer: held };
      }
      answer.end();
      unproven += 1;
      const retryAfter = retryAfterSeconds(answer.headers);
      const isFinal = unproven >= ASKED_MAX;
      return { ...attempt, said: { outcome: 'nothing', isFinal, retryAfterSeconds: retryAfter } };
    },
  };
}

const proofIn = ({ headers }: DaemonAnswer) => String(headers[ANSWER_PROOF] ?? '');

function createTally() {
  const digest = createHash('sha256');
  let length = 0;
  return {
    /** @returns the bytes so far */
    add(chunk: Buffer): number {
      digest.update(chunk);
      length += chunk.length;
      return length;
    },
    end: (): Body => ({ length, digest: digest.digest('hex') }),
  };
}

/** An answer that was read, and its body if it is not too long to be held. Throws as its body. */
async function hold(answer: DaemonAnswer): Promise<{ held: DaemonAnswer; body: Body | undefined }> {
  const rest = answer.body[Symbol.asyncIterator]();
  const tally = createTally();
  const chunks: Buffer[] = [];
  let isBegun = false;
  while (!isBegun) {
    const next = await rest.next();
    if (next.done) break;
    chunks.push(next.value);
    isBegun = tally.add(next.value) > HELD_BYTES_MAX;
  }
  async function* body() {
    yield* chunks;
    if (isBegun) yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { held: { ...answer, body: body() }, body: isBegun ? undefined : tally.end() };
}

function asLost(error: unknown): { held: undefined; body: CliError<'answer_lost'> } {
  if (isCliError(error, 'answer_lost')) return { held: undefined, body: error };
  throw error;
}
