import { ProofError, type UnavailableError } from '@ori/proof/wire';
import { requireNames } from '../options.ts';
import { type Answer, BODY_INCOMPLETE, INTERNAL_ERROR, toRefusal } from '../refusal.ts';
import { STREAM_SECONDS_MAX } from '../replay/times.ts';
import type { RequestHead } from '../request.ts';
import type { VerifiedProof } from '../verified-proof.ts';
import type { Verifier } from '../verifier.ts';
import { BodyBuffer } from './body-buffer.ts';
import { diagnosisOf, type Received, requireDiagnoseOption, withDiagnosis } from './diagnosis.ts';

/** Options of `requireProof`, in every adapter. */
export interface RequireProofOptions {
  /** Maximum size of a body; a larger one is answered with 413. */
  bodyBytesMax: number;
  /**
   * Adds digests of the request as it arrived to each 401, for `ori doctor call` to compare; false by default. It does not change
   * what is accepted.
   */
  diagnose?: boolean | undefined;
}

/** What a handler gets in addition to the request, whose body has been read. */
export interface Proven<Body extends Uint8Array = Uint8Array> {
  readonly proof: VerifiedProof;
  /** The bytes that were signed. */
  readonly body: Body;
}

/** A request as an adapter receives it. */
export interface Arrival {
  readonly head: RequestHead;
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Called if the rest of the body is not wanted. */
  cancel?(): void;
  /** From Content-Length. */
  readonly announcedBytes?: number;
  /** Why the body is not as it arrived, for the author of the daemon. */
  readonly misuse?: string | undefined;
}

/** Exactly one of the two. */
export type Judgement =
  | {
      readonly proven: Proven;
      readonly answer?: undefined;
      readonly closes?: undefined;
    }
  | {
      readonly proven?: undefined;
      /** A refusal, or the answer to a question about another call. */
      readonly answer: Answer;
      /** The client disconnected or its body is malformed, so the answer may not arrive. */
      readonly isAborted: boolean;
      /** Do not wait for the rest of the body: it is too late, or too long. */
      readonly closes: boolean;
    };

/** The part that all adapters share. Throws TypeError for invalid options. */
export function createGuard(verifier: Verifier, options: RequireProofOptions, handler: unknown) {
  if (typeof verifier?.begin !== 'function') throw new TypeError('requireProof: expected a verifier');
  requireNames(options, ['bodyBytesMax', 'diagnose'], 'requireProof');
  const { bodyBytesMax, diagnose = false } = options;
  if (!(Number.isSafeInteger(bodyBytesMax) && bodyBytesMax >= 0)) {
    throw new TypeError('bodyBytesMax: expected a number of bytes');
  }
  requireDiagnoseOption(diagnose);
  if (typeof handler !== 'function') throw new TypeError('requireProof: expected a handler');

  /** A refusal that the verifier does not know of. */
  function reported<Refused extends ProofError | UnavailableError>(
    head: RequestHead,
    error: Refused,
  ): Refused {
    verifier.report(error.code, head, error);
    return error;
  }

  const tooLarge = (head: RequestHead): ProofError =>
    reported(head, new ProofError('body_too_large', `the body exceeds ${bodyBytesMax} bytes`));
  const tooLate = (head: RequestHead): ProofError =>
    reported(head, new ProofError('proof_expired', `the body took longer than ${STREAM_SECONDS_MAX} s`));

  async function prove(arrival: Arrival, received: Received): Promise<Proven> {
    const { head, announcedBytes = 0, misuse } = arrival;
    if (misuse !== undefined) throw new TypeError(`requireProof: ${misuse}`);
    const open = verifier.begin(head);
    if (announcedBytes > bodyBytesMax) throw tooLarge(head);
    received.isReading = true;
    for await (const chunk of readable(arrival, () => tooLate(head))) {
      open.update(chunk);
      if (received.body.length + chunk.byteLength > bodyBytesMax) throw tooLarge(head);
      received.body.add(chunk);
    }
    // A server in front of a Fetch handler may cut a body without an error: Next does at 10 MB.
    if (received.body.length < announcedBytes)
      throw new BodyError('the body is shorter than its Content-Length');
    received.isWhole = true;
    received.isReading = false;
    return { proof: await open.finish(), body: received.body.bytes() };
  }

  /** Reports a failure of the daemon's own code, and returns the answer to it. */
  function fail(head: RequestHead, error: unknown): Answer {
    verifier.report('internal_error', head, error);
    return INTERNAL_ERROR;
  }

  return {
    bodyBytesMax,
    fail,
    /** Reads the body and judges the request. Never rejects: every failure is an answer. */
    async judge(arrival: Arrival): Promise<Judgement> {
      const { head } = arrival;
      const received: Received = { body: new BodyBuffer(), isWhole: false, isReading: false };
      try {
        const proven = await prove(arrival, received);
        const asked = verifier.answers?.ask(proven.proof);
        if (asked === undefined) return { proven };
        const answer = await asked.catch((error: UnavailableError) => {
          throw reported(head, error);
        });
        return { answer, isAborted: false, closes: false };
      } catch (error) {
        if (error instanceof BodyError) {
          verifier.report('aborted', head, error);
          return { answer: BODY_INCOMPLETE, isAborted: true, closes: true };
        }
        const refusal = toRefusal(error);
        if (refusal === undefined) return { answer: fail(head, error), isAborted: false, closes: false };
        const answer = diagnose ? withDiagnosis(refusal, () => diagnosisOf(head, received)) : refusal;
        return { answer, isAborted: false, closes: received.isReading };
      }
    },
  };
}

/** The body is incomplete. */
class BodyError extends Error {}

/**
 * Reads the body for as long as it could be accepted (SPEC.md, E7). Wraps errors of the body, to distinguish them from errors of our own
 * code. A body that is not read to its end is not destroyed: on Node that would close the connection before the answer is sent.
 */
async function* readable({ body, cancel }: Arrival, tooLate: () => Error): AsyncGenerator<Uint8Array> {
  const iterator = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, STREAM_SECONDS_MAX * 1000, 'late');
  });
  let isWanted = true;
  try {
    for (;;) {
      const next = await Promise.race([nextOf(iterator), late]);
      if (next === 'late') throw tooLate();
      if (next.done) {
        isWanted = false;
        return;
      }
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    if (isWanted) cancel?.();
  }
}

async function nextOf(
  iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array>,
): Promise<IteratorResult<Uint8Array>> {
  try {
    return await iterator.next();
  } catch (cause) {
    throw new BodyError('the body is incomplete', { cause });
  }
}
