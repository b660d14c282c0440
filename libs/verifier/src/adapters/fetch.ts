import { ProofError } from '@ori/proof';
import { toRefusal } from '../refusal.ts';
import type { RequestHead } from '../requirements.ts';
import type { VerifiedProof, Verifier } from '../verifier.ts';
import { diagnosisOf, type Received, requireDiagnoseOption, withDiagnosis } from './diagnosis.ts';

export interface RequireProofOptions {
  /** Longest body read; more is answered 413. */
  bodyBytesMax: number;
  /**
   * Adds to each 401 what the request looked like on arrival, by digests, for `ori doctor call` to compare; false by default. It
   * changes nothing about what is accepted or refused.
   */
  diagnose?: boolean | undefined;
}

/** What a handler gets beside the request, whose body is consumed. */
export interface Proven {
  readonly proof: VerifiedProof;
  readonly body: Uint8Array;
}

/**
 * Wraps a Fetch API handler: it is called once the proof is accepted; otherwise the answer is 401, 413 or 503.
 *
 * A `Request` does not show what came over the wire, and each difference refuses: `new URL` rewrites some legal paths (`/a/../b`,
 * `/a\b`, `/a"b`), so a proof over the path as sent fails with `signature_invalid`; repeated headers arrive joined by a comma, which no
 * proof header may hold. A server that decodes the body itself (Content-Encoding) must leave that header in place.
 * Throws TypeError for options that cannot work, and rejects with one for a request whose body was read already.
 */
export function requireProof(
  verifier: Verifier,
  { bodyBytesMax, diagnose = false }: RequireProofOptions,
  handler: (request: Request, proven: Proven) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  if (typeof verifier?.begin !== 'function') throw new TypeError('requireProof: expected a verifier');
  if (typeof handler !== 'function') throw new TypeError('requireProof: expected a handler');
  if (!(Number.isSafeInteger(bodyBytesMax) && bodyBytesMax >= 0)) {
    throw new TypeError('bodyBytesMax: expected a number of bytes');
  }
  requireDiagnoseOption(diagnose);
  return async (request) => {
    const received: Received = { chunks: [], isWhole: false };
    let proven: Proven;
    try {
      proven = await prove(verifier, request, bodyBytesMax, received);
    } catch (error) {
      const refusal = toRefusal(error);
      if (refusal === undefined) throw error;
      const told = diagnose ? withDiagnosis(refusal, () => diagnosisOf(headOf(request), received)) : refusal;
      return new Response(told.body, { status: told.status, headers: told.headers });
    }
    return handler(request, proven);
  };
}

async function prove(
  verifier: Verifier,
  request: Request,
  bodyBytesMax: number,
  received: Received,
): Promise<Proven> {
  if (request.bodyUsed) throw new TypeError('requireProof: the body was read already');
  const open = verifier.begin(headOf(request));
  const { chunks } = received;
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > bodyBytesMax)
      throw new ProofError('body_too_large', `the body exceeds ${bodyBytesMax} bytes`);
    open.update(chunk);
    chunks.push(chunk);
  }
  received.isWhole = true;
  return { proof: await open.finish(), body: join(chunks, length) };
}

function headOf(request: Request): RequestHead {
  const { origin } = new URL(request.url);
  return {
    method: request.method,
    target: request.url.slice(origin.length),
    rawHeaders: [...request.headers].flat(),
  };
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return body;
}
