import type { IncomingMessage } from 'node:http';
import { BodyError, readChunks } from '@ori/http/body';
import { DeadlineError } from '@ori/http/deadline';
import { countFor, exchangeOf } from '@ori/http/exchange';
import { ProofError, UnavailableError } from '@ori/proof/wire';
import { BusyError } from '@ori/runtime/busy-error';
import type { VerifiedProof, Verifier } from '@ori/verifier';

/** The method, raw path and headers that the proof must cover. */
export type Head = Parameters<Verifier['begin']>[0];

export interface ProveOptions {
  readonly verifier: Verifier;
  readonly bodyBytesMax: number;
  /** @returns how many bytes of the chunk stay in memory */
  readonly take: (chunk: Buffer) => number;
  /** The body has arrived. Throws to refuse it before the proof is spent. */
  readonly settle: () => Promise<void>;
}

/**
 * Checks the head, reads the body, verifies the signature, counts the request for its person, and spends the proof. Reports outcomes
 * that the verifier cannot see.
 *
 * @throws {ProofError} {UnavailableError} as the verifier does, and `body_too_large`
 * @throws {BodyError} {DeadlineError} {BusyError} as `@ori/http` does; anything else is a failure of the guard itself
 */
export async function prove(req: IncomingMessage, head: Head, options: ProveOptions): Promise<VerifiedProof> {
  const { verifier, bodyBytesMax, take, settle } = options;
  const exchange = exchangeOf(req);
  const { deadline } = exchange;
  const open = verifier.begin(head);
  try {
    await readChunks(req, { bytesMax: bodyBytesMax, deadline }, (chunk) => {
      open.update(chunk);
      return take(chunk);
    });
    await settle();
    deadline.check();
  } catch (error) {
    throw reported(verifier, head, error);
  }
  try {
    return await open.finish((user) => countFor(exchange, user));
  } catch (error) {
    throw error instanceof BusyError ? reported(verifier, head, error) : error;
  }
}

export function reported(verifier: Verifier, head: Head, error: unknown): unknown {
  if (error instanceof BodyError && error.code === 'body_too_large') {
    const refusal = new ProofError('body_too_large', error.message);
    verifier.report(refusal.code, head, refusal);
    return refusal;
  }
  const isAborted = [BodyError, DeadlineError, BusyError].some((kind) => error instanceof kind);
  const outcome =
    error instanceof ProofError || error instanceof UnavailableError
      ? error.code
      : isAborted
        ? 'aborted'
        : 'internal_error';
  verifier.report(outcome, head, error);
  return error;
}
