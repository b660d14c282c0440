import type { ServerResponse } from 'node:http';
import type { Verifier } from '../verifier.ts';
import { HandlerError } from '../warning.ts';
import { createGuard, type RequireProofOptions } from './guard.ts';
import {
  answerNode,
  arrivalOf,
  headOf,
  type NodeProven,
  type NodeRequest,
  toNodeProven,
} from './node-request.ts';

export type { RequireProofOptions } from './guard.ts';
export type { NodeProven as Proven, NodeRequest } from './node-request.ts';

/**
 * Wraps a node:http handler: it is called only with an accepted proof, as its third argument. Everything else is answered here: 401, 413
 * and 503 as `toRefusal` says, 500 for a mistake in the daemon's own code, its handler included. A client that disconnects before its
 * body ends gets no answer. The verifier's `onOutcome` is called each time. What it returns is a promise of the end, for frameworks that
 * would otherwise answer in its place, as h3 does.
 *
 *     createServer(requireProof(verifier, { bodyBytesMax: 1_000_000 }, (req, res, { proof, body }) => res.end(proof.user)));
 *
 * @throws {TypeError} invalid options.
 */
export function requireProof<Req extends NodeRequest, Res extends ServerResponse>(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (request: Req, response: Res, proven: NodeProven) => unknown,
): (request: Req, response: Res) => void {
  const guard = createGuard(verifier, options, handler);

  return async (request, response) => {
    const judgement = await guard.judge(arrivalOf(request));
    if (judgement.proven === undefined) {
      answerNode(judgement, request, response, guard.bodyBytesMax);
      return;
    }
    verifier.answers?.recordNode(response, judgement.proven.proof);
    try {
      await handler(request, response, toNodeProven(judgement.proven));
    } catch (error) {
      const answer = guard.fail(headOf(request), new HandlerError(error));
      answerNode({ answer, isAborted: false, closes: false }, request, response, guard.bodyBytesMax);
    }
  };
}
