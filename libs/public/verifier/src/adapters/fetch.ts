import type { Verifier } from '../verifier.ts';
import { arrivalOf, responseOf } from './fetch-request.ts';
import { createGuard, type Proven, type RequireProofOptions } from './guard.ts';

export type { Proven, RequireProofOptions } from './guard.ts';

/**
 * Wraps a Fetch API handler: it is called only with an accepted proof, as its second argument; the server's other arguments
 * follow (`env` and `ctx` of a Worker, the context of a Next route). Everything else is answered here: 401, 413 and 503 as `toRefusal` says, 400
 * for a body that breaks off, 500 for a body that was read before. Errors that the handler throws go to the server.
 *
 * On Node behind @hono/node-server the adapter verifies the request as it was sent. Elsewhere a `Request` does not show that: the adapter
 * refuses a path that `new URL(request.url)` rewrites, and repeated headers that arrive joined by a comma; test/conformance/README.md lists
 * what it cannot see. A server that decodes the body must leave its Content-Encoding in place.
 *
 * @throws {TypeError} invalid options.
 */
export function requireProof<Req extends Request, Rest extends unknown[]>(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (request: Req, proven: Proven, ...rest: Rest) => Response | Promise<Response>,
): (request: Req, ...rest: Rest) => Promise<Response> {
  const guard = createGuard(verifier, options, handler);
  return async (request, ...rest) => {
    const judgement = await guard.judge(arrivalOf(request, rest[0]));
    if (judgement.proven === undefined) return responseOf(judgement);
    const { proven } = judgement;
    const answered = () => handler(request, proven, ...rest);
    return verifier.answers?.recordResponse(request, proven.proof, answered) ?? answered();
  };
}
