import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { VerifiedProof } from '../verified-proof.ts';
import type { Verifier } from '../verifier.ts';
import { createGuard, type RequireProofOptions } from './guard.ts';
import { answerNode, arrivalOf, type NodeProven, type NodeRequest, toNodeProven } from './node-request.ts';
import { keepProven } from './proven.ts';

export type { RequireProofOptions } from './guard.ts';
export type { NodeProven as Proven, NodeRequest } from './node-request.ts';
export { provenOf } from './proven.ts';

/** A request behind the middleware. */
export interface ProvenRequest extends NodeRequest {
  proof?: VerifiedProof;
}

export type RequireProofMiddleware = (
  request: NodeRequest,
  response: ServerResponse,
  next: () => void,
) => void;

/**
 * For one route: a handler that is called only with an accepted proof, as its third argument. Errors that it throws go to the
 * application's error handlers through `next`. Other requests are answered here, as by '@ori/verifier/node'.
 *
 *     app.post('/api/invoke', requireProof(verifier, { bodyBytesMax: 1_000_000 }, (req, res, { proof, body }) => res.json(proof.user)));
 *
 * @throws {TypeError} invalid options.
 */
export function requireProof(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (request: Request, response: Response, proven: NodeProven) => unknown,
): RequestHandler;
/**
 * For a router: middleware that calls `next`, without an argument, once the proof is accepted, and answers everything else itself.
 * Handlers behind it take the proof from `provenOf(req)`, which throws on a route that is not guarded.
 *
 * Mount either before any body parser: it must see the bytes that were signed.
 */
export function requireProof(verifier: Verifier, options: RequireProofOptions): RequireProofMiddleware;
export function requireProof(
  verifier: Verifier,
  options: RequireProofOptions,
  handler?: (request: Request, response: Response, proven: NodeProven) => unknown,
): RequestHandler {
  const guard = createGuard(verifier, options, handler === undefined ? Function.prototype : handler);

  async function handle(
    request: Request,
    response: Response,
    next: (error?: unknown) => void,
  ): Promise<void> {
    const arrival = arrivalOf(request);
    const misuse = arrival.misuse ?? (handler === undefined ? misuseOnFastify(request) : undefined);
    const judgement = await guard.judge({ ...arrival, misuse });
    if (judgement.proven === undefined) {
      answerNode(judgement, request, response, guard.bodyBytesMax);
      return;
    }
    const proven = toNodeProven(judgement.proven);
    const recorder = verifier.answers?.recordNode(response, proven.proof);
    keepProven(request, proven);
    // A later body parser of Express 4 would wait for a body that was already read.
    Object.assign(request, { proof: proven.proof, body: proven.body, _body: true });
    if (handler === undefined) {
      next();
      return;
    }
    try {
      await handler(request, response, proven);
    } catch (error) {
      // Express can only close the connection, as a client does that leaves.
      if (response.headersSent) recorder?.lose();
      next(error ?? new Error('the handler threw undefined'));
    }
  }

  return (request, response, next) => void handle(request, response, next);
}

/**
 * @fastify/middie, also below NestJS, and @fastify/express put these on a request; of Express, `hostname` is inherited. Fastify would
 * wait for ever for a body that was read.
 */
function misuseOnFastify(request: object): string | undefined {
  const isFastify = 'log' in request && Object.hasOwn(request, 'hostname');
  return isFastify ? "Fastify reads the body itself; use '@ori/verifier/fastify' in its route" : undefined;
}
