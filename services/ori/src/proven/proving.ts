import { createHash, hash } from 'node:crypto';
import { ANSWER_PROOF, readAnswerProof, verifyAnswer } from '@ori/proof/answer-proof';
import { CliError, isCliError } from '../core/errors.ts';
import { callOf } from '../core/signed-by.ts';
import { type DaemonAnswer, isGood } from '../delivery/daemon-answer.ts';
import { QUESTION_SECONDS, questionPath } from '../delivery/evidence.ts';
import {
  type Asking,
  type Attempt,
  type Proven,
  type Proving,
  pauseMs,
  waited,
} from '../delivery/questions.ts';
import type { Profile } from '../session/profile.ts';
import { answerKeysOf } from './answer-keys.ts';

/** What is read of an answer, and proven, before any of it is given. The rest of a longer one is proven at its end. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
/** How often a proof that did not come with its answer is asked for. */
const ASKED_MAX = 3;

/** An answer without its first bytes, or whole. */
interface Held {
  readonly answer: DaemonAnswer;
  readonly length: number;
  readonly digest: string;
  /** More follows. */
  readonly isBegun: boolean;
}

/** Undefined if the daemon of an intern does not prove its answers. Throws as `answerKeysOf`. */
export async function openProving(profile: Profile, of: Parameters<typeof answerKeysOf>[1]) {
  const keys = await answerKeysOf(profile, of);
  return keys.length === 0 ? undefined : createProving(keys, () => answerKeysOf(profile, of, 0));
}

/**
 * For a daemon that proves its answers with one of these keys. Only what a signature fits is an answer; whatever else arrives says
 * nothing, and the daemon is asked.
 *
 * @param renew reads the keys again, when an answer has no proof by a known one
 */
export function createProving(known: readonly string[], renew: () => Promise<readonly string[]>): Proving {
  let keys = known;

  const fits = (
    { request, proof }: Attempt,
    { status, mediaType }: DaemonAnswer,
    body: Body,
    header: string,
  ) => {
    const { x = '', signature } = readAnswerProof(header) ?? {};
    if (signature === undefined || !keys.includes(x)) return false;
    const call = hash('sha256', callOf(request, proof).signingInput);
    return verifyAnswer(x, { call, status, mediaType, body }, signature);
  };

  /** Asks for the proof alone, which the client compares with what it received. */
  async function isProvenLater(attempt: Attempt, answer: DaemonAnswer, body: Body, asking: Asking) {
    const { ask, surroundings } = asking;
    surroundings.terminal.detail('Asking for the proof of the answer.');
    for (let asked = 0; asked < ASKED_MAX; asked += 1) {
      await waited(pauseMs(asked), surroundings.interrupted);
      try {
        const path = `${questionPath(String(attempt.proof['x-ori-invoke-nonce']))}/proof`;
        const { answer: said } = await ask(path, QUESTION_SECONDS);
        said?.end();
        if (said !== undefined && fits(attempt, answer, body, proofIn(said))) return true;
      } catch (error) {
        if (isCliError(error, 'interrupted') || !(error instanceof CliError)) throw error;
      }
    }
    return false;
  }

  return {
    async judge(attempt, asking) {
      const { answer, lost } = attempt;
      if (answer === undefined || lost !== undefined) return { ...attempt, evidence: 'lost' };
      const header = proofIn(answer);
      const announced = readAnswerProof(header);
      if (announced === undefined || !keys.includes(announced.x)) {
        keys = await renew();
        if (keys.length === 0) return undefined;
      }
      const isSigned = announced?.signature !== undefined;
      const isPassedOn = !isSigned && isGood(answer) && asking.isPassedOn?.(answer) === true;
      const isProven = (given: DaemonAnswer, body: Body) =>
        isSigned ? fits(attempt, given, body, header) : isProvenLater(attempt, given, body, asking);
      const passedOn = (given: DaemonAnswer): Proven => ({
        ...attempt,
        answer: given,
        evidence: 'proven',
        isWhole: async (length, digest) => isProven(given, { length, digest }),
      });
      if (isPassedOn) return passedOn(answer);
      let held: Held;
      try {
        held = await hold(answer);
      } catch (error) {
        if (!isCliError(error, 'answer_lost')) throw error;
        return { ...attempt, evidence: 'lost', lost: error };
      }
      if (held.isBegun) return passedOn(held.answer);
      const whole = { ...attempt, answer: held.answer };
      if (!isGood(answer) && announced === undefined) return { ...whole, evidence: 'unproven' };
      if (await isProven(answer, held)) return { ...whole, evidence: 'proven' };
      const why = isSigned ? 'what arrived is not what the daemon sent' : 'nothing proves it';
      return { ...whole, evidence: 'lost', lost: lossFor(asking, why) };
    },

    async heard(question, about) {
      const { answer } = question;
      if (answer === undefined) return undefined;
      const held = await hold(answer).catch((error) => {
        if (isCliError(error, 'answer_lost')) return undefined;
        throw error;
      });
      if (held === undefined || held.isBegun) return undefined;
      const of = answer.headers['ori-answer'] === 'kept' ? about : question;
      return fits(of, answer, held, proofIn(answer)) ? held.answer : undefined;
    },
  };
}

type Body = Pick<Held, 'length' | 'digest'>;

const proofIn = ({ headers }: DaemonAnswer) => String(headers[ANSWER_PROOF] ?? '');

const lossFor = ({ address }: Asking, why: string) => new CliError('answer_lost', { address, why });

/** Reads an answer whole, if it is not too long. Throws as its body. */
async function hold(answer: DaemonAnswer): Promise<Held> {
  const rest = answer.body[Symbol.asyncIterator]();
  const digest = createHash('sha256');
  const chunks: Buffer[] = [];
  let length = 0;
  let isBegun = false;
  for (;;) {
    const next = await rest.next();
    if (next.done) break;
    chunks.push(next.value);
    digest.update(next.value);
    length += next.value.length;
    isBegun = length > HELD_BYTES_MAX;
    if (isBegun) break;
  }
  async function* body() {
    yield* chunks;
    if (isBegun) yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { answer: { ...answer, body: body() }, length, digest: digest.digest('hex'), isBegun };
}
