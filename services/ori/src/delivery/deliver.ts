import { createHash, hash } from 'node:crypto';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { readBounded } from '../adapters/bounded.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { tellOutcome } from '../core/failures/answer-lost.ts';
import type { CallOutcome } from '../core/failures/facts.ts';
import { recordOf } from '../text/failure-record.ts';
import type { DaemonAnswer } from './daemon-answer.ts';
import { DOUBT_SECONDS, type Evidence, evidenceOf, stepAfter } from './evidence.ts';
import type { Keeper } from './keeper.ts';
import {
  type Ask,
  type Asked,
  type Asking,
  type Attempt,
  pauseMs,
  questionsAbout,
  waited,
} from './questions.ts';

export interface Delivery extends Asking {
  readonly keeper: Keeper;
  /** Signs the call and sends it. */
  readonly send: () => Promise<Attempt>;
  /** How long a refusal asks to wait before the call is signed again, in seconds. */
  readonly pauseNamed: (answer: DaemonAnswer) => number | undefined;
  /** Whether the reader misses something when the body of an answer ends. */
  readonly isMissing?: ((answer: DaemonAnswer) => boolean) | undefined;
  /** Whether an answer is passed on while it arrives, before it is proven. */
  readonly isPassedOn?: ((answer: DaemonAnswer) => boolean) | undefined;
  /** Refusals are given as they came, because their cause is looked for. */
  readonly isDiagnosing?: boolean | undefined;
}

export interface Delivered {
  readonly proof: ProofHeaderValues;
  readonly answer: DaemonAnswer;
  /** What came back first, if the kept answer is given instead. */
  readonly instead?: Pick<DaemonAnswer, 'status' | 'headers'> | undefined;
}

/** More than any daemon keeps. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Sends a call, and takes the steps of `stepAfter`: what came back is judged, the daemon is asked, and the call is sent once more at most.
 * What is missing of an answer that breaks off is taken from the kept one. Throws CliError `answer_lost`, and the errors of `send` before
 * anything was sent.
 *
 * @param earlier an attempt of another time, whose answer is wanted
 */
export async function deliver(delivery: Delivery, earlier?: Attempt): Promise<Delivered> {
  const { surroundings, address, keeper, isDiagnosing = false } = delivery;
  const { note } = surroundings.terminal;
  let attempt = earlier ?? (await delivery.send());
  for (let sends = 1; ; sends += 1) {
    const { proof, answer, lost } = attempt;
    const evidence = isDiagnosing && answer?.code !== undefined ? 'refused' : evidenceIn(attempt);
    const ask = questionsAbout(proof, delivery);
    const why = lost?.facts.why ?? (answer === undefined ? '' : tellOf(answer, evidence));
    const known = { keepsAnswers: keeper.isKnown(), sends };
    let step = stepAfter(evidence, known);
    let asked: Asked | undefined;
    if (typeof step === 'object') {
      asked = await ask(why, step.ask);
      step = stepAfter(evidence, { ...known, outcome: asked.outcome });
    }
    const seconds = answer === undefined || sends > 1 ? undefined : delivery.pauseNamed(answer);
    if (step === 'give' && answer !== undefined && (evidence !== 'refused' || seconds === undefined)) {
      if (asked !== undefined && evidence !== 'unproven')
        note(tellOutcome(ofCall(asked.outcome), asked.status));
      await keeper.learn(answer);
      return { proof, answer: completed(answer, ask, delivery) };
    }
    answer?.end();
    if (step === 'give_kept' && asked?.kept !== undefined) {
      await keeper.learn(asked.kept);
      return { proof, answer: completed(asked.kept, ask, delivery), instead: answer };
    }
    const facts = { address, why, outcome: asked && ofCall(asked.outcome), asked: asked?.status };
    if (step !== 'sign' && seconds === undefined) throw new CliError('answer_lost', { ...facts, sends });
    note(
      seconds === undefined
        ? 'The daemon did not receive the call, so it is signed again.'
        : `The daemon’s replay store is a few seconds old; signing again in ${seconds} s.`,
    );
    await waited(seconds === undefined ? pauseMs(sends) : seconds * 1000, surroundings.interrupted);
    attempt = await delivery.send().catch((error) => {
      if (isCliError(error, 'interrupted')) throw error;
      // A proof was sent: whatever fails now, to try again is no advice.
      throw new CliError('answer_lost', { ...facts, why: recordOf(error).message, sends });
    });
  }
}

function evidenceIn({ answer, lost, evidence }: Attempt): Evidence {
  return evidence ?? (answer === undefined || lost !== undefined ? 'lost' : evidenceOf(answer));
}

function tellOf({ status, code }: DaemonAnswer, evidence: Evidence): string {
  if (evidence === 'repeated') return 'the daemon has seen this proof before';
  return `the answer was ${status}${code === undefined ? '' : ` (${code})`}`;
}

/** The failure of an answer whose beginning did not arrive whole, so that it cannot be judged. */
export function lossOf(answer: DaemonAnswer): CliError<'answer_lost'> | undefined {
  return isCliError(answer.broken, 'answer_lost') ? answer.broken : undefined;
}

/**
 * The answer, whose body is continued with that of the kept answer if it breaks off, or ends before it is whole: some proxies end a
 * cut stream as if it were complete, or add a text of their own.
 */
function completed(
  answer: DaemonAnswer,
  ask: Ask,
  { surroundings, address, isMissing }: Delivery,
): DaemonAnswer {
  // It was read as a whole.
  if (answer.proven === 'before') return answer;
  const { note } = surroundings.terminal;
  const lost = (why: string, outcome?: CallOutcome) =>
    new CliError('answer_lost', { address, why, isBegun: true, outcome });
  async function* body(): AsyncIterable<Buffer> {
    const given = createHash('sha256');
    let bytes = 0;
    let failure: CliError<'answer_lost'> | undefined;
    try {
      for await (const chunk of answer.body) {
        given.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
      if (isMissing?.(answer)) failure = lost('it ended without what was waited for');
    } catch (error) {
      if (!isCliError(error, 'answer_lost')) throw error;
      failure = error;
    }
    if (failure === undefined && !isEndUnknown(answer)) return;
    const whole = await keptBody(failure);
    if (whole === undefined) return;
    if (!isPrefix(whole, bytes, given.digest('hex')))
      throw lost('what arrived is not what the daemon sent', 'carried_out');
    if (whole.length > bytes) yield whole.subarray(bytes);
  }

  async function keptBody(failure: CliError<'answer_lost'> | undefined): Promise<Buffer | undefined> {
    const {
      outcome,
      kept,
      status: asked,
    } = await ask(failure?.facts.why, failure ? undefined : DOUBT_SECONDS);
    if (kept?.status !== answer.status) {
      kept?.end();
      if (failure === undefined) {
        if (outcome === 'not_understood') note(tellOutcome(outcome, asked));
        if (outcome !== 'nothing') return undefined;
        throw lost('nobody says whether it is whole', outcome);
      }
      throw new CliError('answer_lost', { ...failure.facts, outcome: ofCall(outcome), asked });
    }
    const cut = failure ?? lost('it is too long');
    try {
      return await readBounded(kept.body, KEPT_BYTES_MAX, () => cut);
    } catch (error) {
      if (isCliError(error, 'answer_lost') && error !== cut) return keptBody(cut);
      throw error;
    } finally {
      kept.end();
    }
  }
  return { ...answer, body: body() };
}

const isPrefix = (whole: Buffer, bytes: number, sha256: string): boolean =>
  whole.length >= bytes && hash('sha256', whole.subarray(0, bytes)) === sha256;

/** Nothing says how long it is, and its daemon can be asked. */
function isEndUnknown(answer: DaemonAnswer): boolean {
  const { 'ori-answer': kept, 'content-length': length, 'cache-control': caching = '' } = answer.headers;
  const isEmpty = answer.status === 204 || answer.status === 304;
  return (
    !answer.proven &&
    kept === 'recorded' &&
    length === undefined &&
    !isEmpty &&
    !/\bno-store\b/i.test(caching)
  );
}

/** A daemon that gave another answer than the one that began has lost it. */
const ofCall = (outcome: Asked['outcome']) => (outcome === 'kept' ? 'lost' : outcome);
