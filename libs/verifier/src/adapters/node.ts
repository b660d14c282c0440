import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProofError } from '@ori/proof';
import { INTERNAL_ERROR, type Refusal, toRefusal } from '../refusal.ts';
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

/** What is read of a request: node:http's, Express's and anything built on them. */
export interface NodeRequest extends IncomingMessage {
  /** Set by Express: the target before a router took its mount path off. */
  originalUrl?: string;
  /** Set by body parsers: a request that has one is refused. */
  body?: unknown;
}

/** What a handler gets beside the request, whose body is consumed. */
export interface Proven {
  readonly proof: VerifiedProof;
  /** The bytes that were signed. */
  readonly body: Buffer;
}

/**
 * Wraps a node:http handler: it is called only with an accepted proof. Everything else is answered here: 401, 413 and 503 as
 * `toRefusal` says, 500 for a mistake in the daemon's own code, which is reported by `process.emitWarning`. A client that
 * disconnects before its body ends gets no answer, and the handler is not called.
 *
 *     createServer(requireProof(verifier, { bodyBytesMax: 1_000_000 }, (req, res, { proof, body }) => res.end(proof.user)));
 *
 * @throws {TypeError} options that cannot work.
 */
export function requireProof<Req extends NodeRequest, Res extends ServerResponse>(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (request: Req, response: Res, proven: Proven) => unknown,
): (request: Req, response: Res) => void {
  if (typeof handler !== 'function') throw new TypeError('requireProof: expected a handler');
  const guard = createGuard(verifier, options);
  return (request, response) => {
    guard(request, response, (proven) => handler(request, response, proven));
  };
}

/** Answers the request, or calls `proceed` with an accepted proof: once, and never otherwise. */
export type Guard = (
  request: NodeRequest,
  response: ServerResponse,
  proceed: (proven: Proven) => unknown,
) => void;

/** What the node:http and the Express adapter share. Throws TypeError for options that cannot work. */
export function createGuard(verifier: Verifier, options: RequireProofOptions): Guard {
  if (typeof verifier?.begin !== 'function') throw new TypeError('requireProof: expected a verifier');
  const { bodyBytesMax, diagnose = false } = options ?? {};
  if (!(Number.isSafeInteger(bodyBytesMax) && bodyBytesMax >= 0)) {
    throw new TypeError('bodyBytesMax: expected a number of bytes');
  }
  requireDiagnoseOption(diagnose);

  function answer(error: unknown, request: NodeRequest, response: ServerResponse, received: Received): void {
    const refusal = toRefusal(error);
    if (refusal !== undefined) {
      const told = diagnose ? withDiagnosis(refusal, () => diagnosisOf(headOf(request), received)) : refusal;
      refuse(told, request, response, bodyBytesMax);
      return;
    }
    if (isAborted(request)) {
      response.destroy();
      return;
    }
    fail(error, response);
  }

  return (request, response, proceed) => {
    const received: Received = { chunks: [], isWhole: false };
    prove(verifier, request, bodyBytesMax, received)
      .then(
        (proven) => proceed(proven),
        (error: unknown) => answer(error, request, response, received),
      )
      .catch((error: unknown) => fail(error, response));
  };
}

/** The client went away, or sent what HTTP does not allow: nobody is left to be answered. */
function isAborted(request: NodeRequest): boolean {
  return request.errored !== null && !request.complete;
}

/** A mistake on this side: the operator is told, the client learns nothing of it. */
function fail(error: unknown, response: ServerResponse): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(INTERNAL_ERROR.status, INTERNAL_ERROR.headers).end(INTERNAL_ERROR.body);
}

async function prove(
  verifier: Verifier,
  request: NodeRequest,
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

function headOf({ method, originalUrl, url, rawHeaders }: NodeRequest): RequestHead {
  return { method, target: originalUrl ?? url, rawHeaders };
}

function tooLarge(bodyBytesMax: number): ProofError {
  return new ProofError('body_too_large', `the body exceeds ${bodyBytesMax} bytes`);
}

/** A body that is not read is not waited for either: the connection closes, unless little of it can be left. */
function refuse(
  refusal: Refusal,
  request: NodeRequest,
  response: ServerResponse,
  bodyBytesMax: number,
): void {
  const isBounded = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= bodyBytesMax;
  if (!(request.complete || isBounded)) response.setHeader('connection', 'close');
  response.writeHead(refusal.status, refusal.headers).end(refusal.body);
}
