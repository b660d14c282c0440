import { createHash, hash } from 'node:crypto';
import { readBounded } from '../adapters/bounded.ts';
import { CliError, isCliError } from '../core/errors.ts';
import type { CallOutcome } from '../core/failures/facts.ts';
import { isOfGateway, type QuestionAnswer } from '../core/lost-answer.ts';
import type { DaemonAnswer } from './daemon-answer.ts';
import { type Ask, type Asking, type Attempt, pauseMs, questionsAbout, waited } from './questions.ts';

export interface Delivery extends Asking {
  readonly origin: URL;
  /** Signs the call and sends it. */
  readonly send: () => Promise<Attempt>;
}

type Delivered = Required<Pick<Attempt, 'proof' | 'answer'>>;

/** How often a call is sent that the daemon never receives. */
const SENDS_MAX = 8;
/** A gateway that has no daemon says so to a question too, and what it said is an answer. */
const GATEWAY_SECONDS = 5;
/** More than any daemon keeps. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Sends a call. If its answer is lost, asks the daemon for it, and sends the call again only if the daemon did not receive it: it then
 * has spent the proof, so that it never will. What is missing of an answer that breaks off is taken from the kept one. Throws CliError
 * `answer_lost`, `unreachable` if the call did not arrive, and the errors of `send`.
 *
 * @param earlier an attempt of another time, whose answer is wanted
 */
export async function deliver(delivery: Delivery, earlier?: Attempt): Promise<Delivered> {
  const { context, send } = delivery;
  const address = delivery.origin.origin;
  let attempt = earlier ?? (await send());
  for (let sends = 1; ; sends += 1) {
    const { proof, answer, lost } = attempt;
    const ask = questionsAbout(proof, delivery);
    if (answer !== undefined && lost === undefined) return { proof, answer: completed(answer, ask) };
    const why = lost?.facts.why ?? '';
    const { outcome, kept } = await ask(why, answer === undefined ? undefined : GATEWAY_SECONDS);
    if (kept === undefined && answer !== undefined && !isKnown(outcome)) return { proof, answer };
    answer?.end();
    if (kept !== undefined) return { proof, answer: completed(kept, ask) };
    if (outcome !== 'not_received')
      throw new CliError('answer_lost', { address, why, outcome: ofCall(outcome) });
    if (sends === SENDS_MAX) throw new CliError('unreachable', { what: 'the daemon', address, why });
    context.terminal.note('The daemon did not receive the call, so it is signed again.');
    await waited(pauseMs(sends - 1), context.interrupted);
    attempt = await send();
  }
}

/** The failure of an answer that did arrive: it is cut off before it can be judged, or a gateway gave it. */
export function lossOf(answer: DaemonAnswer, { origin: address }: URL): CliError<'answer_lost'> | undefined {
  if (isCliError(answer.broken, 'answer_lost')) return answer.broken;
  const why = `a gateway answered ${answer.status}`;
  return isOfGateway(answer) ? new CliError('answer_lost', { address, why }) : undefined;
}

/** The answer, whose body is continued with that of the kept answer if it breaks off. */
function completed(answer: DaemonAnswer, ask: Ask): DaemonAnswer {
  async function* body(): AsyncIterable<Buffer> {
    const given = createHash('sha256');
    let bytes = 0;
    try {
      for await (const chunk of answer.body) {
        given.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      if (!isCliError(error, 'answer_lost')) throw error;
      const whole = await keptBody(error);
      const isSame = hash('sha256', whole.subarray(0, bytes)) === given.digest('hex');
      if (whole.length < bytes || !isSame)
        throw new CliError('answer_lost', { ...error.facts, outcome: 'lost' });
      yield whole.subarray(bytes);
    }
  }

  async function keptBody(failure: CliError<'answer_lost'>): Promise<Buffer> {
    const { outcome, kept } = await ask(failure.facts.why);
    if (kept?.status !== answer.status)
      throw new CliError('answer_lost', { ...failure.facts, outcome: ofCall(outcome) });
    try {
      return await readBounded(kept.body, KEPT_BYTES_MAX, () => failure);
    } catch (error) {
      if (isCliError(error, 'answer_lost') && error !== failure) return keptBody(failure);
      throw error;
    } finally {
      kept.end();
    }
  }
  return { ...answer, body: body() };
}

/** Whether the daemon knows the call. A gateway's answer says more than a daemon that does not. */
const isKnown = (outcome: QuestionAnswer['outcome']): boolean =>
  outcome !== 'not_kept' && outcome !== 'nothing';

/** A daemon that answered has received the call, whatever it says. */
const ofCall = (outcome: QuestionAnswer['outcome']): CallOutcome =>
  outcome === 'kept' || outcome === 'not_received' ? 'lost' : outcome;
