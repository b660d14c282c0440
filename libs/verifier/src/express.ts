import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProofError } from '@ori/proof';
import { diagnosisOf, type Received, requireDiagnoseOption, withDiagnosis } from './diagnosis.ts';
import { type Refusal, toRefusal } from './refusal.ts';
import type { RequestHead } from './requirements.ts';
import type { VerifiedProof, Verifier } from './verifier.ts';

declare global {
  namespace Express {
    interface Request {
      /** Set by `requireProof`, which answers itself when there is none. Absent on a route that it does not guard. */
      proof: VerifiedProof;
    }
  }
}

export interface RequireProofOptions {
  /** Longest body read; more is answered 413. */
  bodyBytesMax: number;
  /**
   * Adds to each 401 what the request looked like on arrival, by digests, for `ori doctor call` to compare; false by default. It
   * changes nothing about what is accepted or refused.
   */
  diagnose?: boolean | undefined;
}

/** What is read of a request, and set on it: node:http's, Express's and anything built on them. */
export interface ProvenRequest extends IncomingMessage {
  /** Set by Express: the target before a router took its mount path off. */
  originalUrl?: string;
  /** The raw bytes, a Buffer, once the proof is accepted. */
  body?: unknown;
  proof?: VerifiedProof;
}

export type RequireProofHandler = (
  request: ProvenRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Lets a request through once its proof is accepted, with `req.proof` and the raw body as `req.body`; answers 401, 413 or 503
 * itself otherwise. Mount it before any body parser: it must see the bytes that were signed. When something has read them
 * already, it passes a TypeError on, which Express answers with 500. Works under plain node:http too.
 * Throws TypeError for options that cannot work.
 */
export function requireProof(
  verifier: Verifier,
  { bodyBytesMax, diagnose = false }: RequireProofOptions,
): RequireProofHandler {
  if (typeof verifier?.begin !== 'function') throw new TypeError('requireProof: expected a verifier');
  if (!(Number.isSafeInteger(bodyBytesMax) && bodyBytesMax >= 0)) {
    throw new TypeError('bodyBytesMax: expected a number of bytes');
  }
  requireDiagnoseOption(diagnose);
  return (request, response, next) => {
    const received: Received = { chunks: [], isWhole: false };
    prove(verifier, request, bodyBytesMax, received).then(
      ({ proof, body }) => {
        request.proof = proof;
        request.body = body;
        next();
      },
      (error: unknown) => {
        const refusal = toRefusal(error);
        if (refusal === undefined) return next(error);
        const told = diagnose
          ? withDiagnosis(refusal, () => diagnosisOf(headOf(request), received))
          : refusal;
        refuse(told, request, response, bodyBytesMax);
      },
    );
  };
}

async function prove(
  verifier: Verifier,
  request: ProvenRequest,
  bodyBytesMax: number,
  received: Received,
): Promise<Proven> {
  if (request.readableDidRead || request.readableEnded || request.body !== undefined) {
    throw new TypeError('requireProof: the body was read already; mount it before any body parser');
  }
  const open = verifier.begin(headOf(request));
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge(bodyBytesMax);
  const { chunks } = received;
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > bodyBytesMax) throw tooLarge(bodyBytesMax);
    open.update(chunk);
    chunks.push(chunk);
  }
  received.isWhole = true;
  return { proof: await open.finish(), body: Buffer.concat(chunks, length) };
}

interface Proven {
  readonly proof: VerifiedProof;
  readonly body: Buffer;
}

function headOf({ method, originalUrl, url, rawHeaders }: ProvenRequest): RequestHead {
  return { method, target: originalUrl ?? url, rawHeaders };
}

function tooLarge(bodyBytesMax: number): ProofError {
  return new ProofError('body_too_large', `the body exceeds ${bodyBytesMax} bytes`);
}

/** A body that is not read is not waited for either: the connection closes, unless little of it can be left. */
function refuse(
  refusal: Refusal,
  request: ProvenRequest,
  response: ServerResponse,
  bodyBytesMax: number,
): void {
  const isBounded = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= bodyBytesMax;
  if (!(request.complete || isBounded)) response.setHeader('connection', 'close');
  response.writeHead(refusal.status, refusal.headers).end(refusal.body);
}
