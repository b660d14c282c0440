import { ProofError } from '@ori/proof';
import { requireNames } from '../options.ts';
import { codeOf } from '../outcome.ts';
import { type Answer, BODY_INCOMPLETE, INTERNAL_ERROR, toRefusal } from '../refusal.ts';
import type { RequestHead } from '../requirements.ts';
import type { VerifiedProof, Verifier } from '../verifier.ts';
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
  /** From Content-Length. */
  readonly announcedBytes?: number;
  /** Why the body is no longer as it arrived, for the author of the daemon. */
  readonly misuse?: string | undefined;
}

/** Exactly one of the two. */
export type Judgement =
  | { readonly proven: Proven; readonly answer?: undefined }
  | {
      readonly proven?: undefined;
      readonly answer: Answer;
      /** The client disconnected or its body is malformed, so the answer may reach nobody. */
      readonly isAborted: boolean;
    };

export interface Guard {
  readonly bodyBytesMax: number;
  /** Reads the body and judges the request. Never rejects: every failure is an answer. */
  judge(arrival: Arrival): Promise<Judgement>;
  /** Reports a failure of the daemon's own code, and returns the answer to it. */
  fail(head: RequestHead, error: unknown): Answer;
}

/** The part that all adapters share. Throws TypeError for invalid options. */
export function createGuard(verifier: Verifier, options: RequireProofOptions, handler: unknown): Guard {
  if (typeof verifier?.begin !== 'function') throw new TypeError('requireProof: expected a verifier');
  requireNames(options, ['bodyBytesMax', 'diagnose'], 'requireProof');
  const { bodyBytesMax, diagnose = false } = options;
  if (!(Number.isSafeInteger(bodyBytesMax) && bodyBytesMax >= 0)) {
    throw new TypeError('bodyBytesMax: expected a number of bytes');
  }
  requireDiagnoseOption(diagnose);
  if (typeof handler !== 'function') throw new TypeError('requireProof: expected a handler');

  function tooLarge(head: RequestHead): ProofError {
    const error = new ProofError('body_too_large', `the body exceeds ${bodyBytesMax} bytes`);
    verifier.report('body_too_large', head, error);
    return error;
  }

  async function prove(arrival: Arrival, received: Received): Promise<Proven> {
    const { head, body, announcedBytes = 0, misuse } = arrival;
    if (misuse !== undefined) throw new TypeError(`requireProof: ${misuse}`);
    const open = verifier.begin(head);
    if (announcedBytes > bodyBytesMax) throw tooLarge(head);
    let length = 0;
    for await (const chunk of readable(body)) {
      open.update(chunk);
      length += chunk.byteLength;
      if (length > bodyBytesMax) throw tooLarge(head);
      received.chunks.push(chunk);
    }
    received.isWhole = true;
    return { proof: await open.finish(), body: join(received.chunks, length) };
  }

  function fail(head: RequestHead, error: unknown): Answer {
    verifier.report('internal_error', head, error);
    return INTERNAL_ERROR;
  }

  return {
    bodyBytesMax,
    fail,
    async judge(arrival) {
      const { head } = arrival;
      const received: Received = { chunks: [], isWhole: false };
      try {
        return { proven: await prove(arrival, received) };
      } catch (error) {
        if (error instanceof BodyError) {
          verifier.report('aborted', head, error);
          return { answer: BODY_INCOMPLETE, isAborted: true };
        }
        const refusal = codeOf(error) === undefined ? undefined : toRefusal(error);
        if (refusal === undefined) return { answer: fail(head, error), isAborted: false };
        const answer = diagnose ? withDiagnosis(refusal, () => diagnosisOf(head, received)) : refusal;
        return { answer, isAborted: false };
      }
    },
  };
}

/** The body is incomplete. */
class BodyError extends Error {}

/** Wraps errors of the body, to distinguish them from errors of our own code. */
async function* readable(body: Arrival['body']): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new BodyError('the body is incomplete', { cause });
  }
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return body;
}
