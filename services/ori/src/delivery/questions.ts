import { setTimeout as pause } from 'node:timers/promises';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { CliError, isCliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { Surroundings } from '../session/context.ts';
import { recordOf } from '../text/failure-record.ts';
import type { DaemonAnswer } from './daemon-answer.ts';
import {
  type Evidence,
  judgeQuestion,
  QUESTION_SECONDS,
  type QuestionAnswer,
  questionPath,
} from './evidence.ts';

/** The proof that a request was sent with, and its answer; `lost` unless that arrived, and is the daemon's. */
export interface Attempt {
  readonly proof: ProofHeaderValues;
  readonly answer?: DaemonAnswer | undefined;
  readonly lost?: CliError<'answer_lost'> | undefined;
  /** What the wing `proven` makes of the answer to a call, and of that to a question, in place of what they look like. */
  readonly evidence?: Evidence;
  readonly said?: Asked;
}

export interface Asking {
  readonly surroundings: Surroundings;
  /** The origin of the daemon. */
  readonly address: string;
  /** How long the daemon is asked for an answer. */
  readonly seconds: number;
  /** The same for a daemon that says nothing, if that is less. */
  readonly patienceSeconds?: number | undefined;
  /** Signs a request without a body for this path and sends it. */
  readonly ask: (path: string, silenceSeconds: number) => Promise<Attempt>;
}

const PAUSE_MS = 100;
/** Those who wait for an MCP client usually do so for a minute. */
const PAUSE_MS_MAX = 5000;

export type Asked = QuestionAnswer & { readonly kept?: DaemonAnswer };
/**
 * @param why the answer is missing; absent if only its end is in doubt
 * @param patienceSeconds for a daemon that says nothing
 */
export type Ask = (why?: string, patienceSeconds?: number) => Promise<Asked>;

/** Asks about one call, as often as necessary, until its time is over, which begins with the first question. */
export function questionsAbout(proof: ProofHeaderValues, asking: Asking): Ask {
  const { seconds, ask, patienceSeconds: limit = seconds } = asking;
  const { terminal, interrupted } = asking.surroundings;
  const path = questionPath(String(proof['x-ori-invoke-nonce']));
  let fromMs: number | undefined;
  let asked = 0;

  async function once(leftMs: number): Promise<Asked> {
    try {
      const attempt = await ask(path, Math.min(QUESTION_SECONDS, Math.ceil(leftMs / 1000)));
      const { answer, said } = attempt;
      if (said !== undefined) return said;
      if (answer === undefined || answer.broken !== undefined) return { outcome: 'nothing', isFinal: false };
      const judged = judgeQuestion(answer, signedOf(proof), signedOf(attempt.proof));
      if (judged.outcome === 'kept') return { ...judged, kept: answer };
      answer.end();
      return judged;
    } catch (error) {
      // No other failure leaves here: a caller would sign in, or correct something, and send the call again.
      if (isCliError(error, 'interrupted')) throw error;
      const { exit, message, retry_after } = recordOf(error);
      terminal.note(`Cannot ask: ${message}`);
      const isFinal = exit !== EXIT.rateLimited && exit !== EXIT.unavailable;
      return { outcome: 'nothing', isFinal, retryAfterSeconds: Number(retry_after ?? 0) };
    }
  }

  return async (why, patienceSeconds = seconds) => {
    fromMs ??= performance.now();
    if (why === undefined) terminal.detail('Nothing says how long the answer is; asking the daemon.');
    else terminal.note(`The answer is in doubt (${why}); asking the daemon for it.`);
    let last: Asked = { outcome: 'nothing', isFinal: false };
    for (;;) {
      const nextMs = Math.max(pauseMs(asked), (last.retryAfterSeconds ?? 0) * 1000);
      const patienceMs =
        1000 * (last.outcome === 'running' ? seconds : Math.min(seconds, limit, patienceSeconds));
      const leftMs = fromMs + patienceMs - performance.now() - nextMs;
      if (leftMs <= 0 || last.isFinal) return last;
      await waited(nextMs, interrupted);
      asked += 1;
      last = await once(leftMs);
    }
  };
}

export async function waited(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal });
  } catch {
    throw new CliError('interrupted', {});
  }
}

/** None at first, then doubled each time, with a random part: many clients lose their answers at the same moment. */
export function pauseMs(times: number): number {
  return times === 0 ? 0 : Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** times) * (0.5 + Math.random() / 2);
}

const signedOf = (proof: ProofHeaderValues) => ({
  user: String(proof['x-ori-invoke-user']),
  signedAt: Number(proof['x-ori-invoke-timestamp']),
});
