import type { ServerResponse } from 'node:http';
import type { VerifiedProof, Verifier } from '../verifier.ts';
import { createGuard, type NodeRequest, type RequireProofOptions } from './node.ts';

export type { RequireProofOptions } from './node.ts';

declare global {
  namespace Express {
    interface Request {
      /** Set by `requireProof`, which answers itself when there is none. Absent on a route that it does not guard. */
      proof: VerifiedProof;
    }
  }
}

/** A request as the middleware leaves it. */
export interface ProvenRequest extends NodeRequest {
  proof?: VerifiedProof;
}

export type RequireProofHandler = (
  request: ProvenRequest,
  response: ServerResponse,
  next: () => void,
) => void;

/**
 * Express middleware that calls `next` once the proof is accepted, with `req.proof` and the raw body, a Buffer, as `req.body`. It
 * answers everything else itself, and never passes an error on: a `next` that ignores its argument would run without a proof.
 * Mount it before any body parser: it must see the bytes that were signed. Under node:http use `@ori/verifier/node`.
 *
 * @throws {TypeError} options that cannot work.
 */
export function requireProof(verifier: Verifier, options: RequireProofOptions): RequireProofHandler {
  const guard = createGuard(verifier, options);
  return (request, response, next) => {
    guard(request, response, ({ proof, body }) => {
      request.proof = proof;
      request.body = body;
      next();
    });
  };
}
