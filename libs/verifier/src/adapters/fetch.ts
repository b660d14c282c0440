import type { Verifier } from '../verifier.ts';
import { arrivalOf } from './fetch-request.ts';
import { createGuard, type Proven, type RequireProofOptions } from './guard.ts';

export type { Proven, RequireProofOptions } from './guard.ts';

/**
 * Wraps a Fetch API handler: it is called only with an accepted proof, as its second argument; whatever else the server passes follows
 * (`env` and `ctx` of a Worker, the context of a Next route). Everything else is answered here: 401, 413 and 503 as `toRefusal` says, 400
 * for a body that breaks off, 500 for a body that was read before. What the handler throws is the server's to answer.
 *
 * A `Request` does not show what came over the wire, and each difference refuses: a path that is not what `new URL(request.url)`
 * makes of it; repeated headers, which arrive joined by a comma. A server that decodes the body itself must leave its Content-Encoding in
 * place.
 *
 * @throws {TypeError} options that cannot work.
 */
export function requireProof<Req extends Request, Rest extends unknown[]>(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (request: Req, proven: Proven, ...rest: Rest) => Response | Promise<Response>,
): (request: Req, ...rest: Rest) => Promise<Response> {
  const guard = createGuard(verifier, options, handler);
  return async (request, ...rest) => {
    const { proven, answer } = await guard.judge(arrivalOf(request));
    if (proven === undefined) return new Response(answer.body, answer);
    return handler(request, proven, ...rest);
  };
}
