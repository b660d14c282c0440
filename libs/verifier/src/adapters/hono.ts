import type { Context, Env } from 'hono';
import type { Verifier } from '../verifier.ts';
import { arrivalOf } from './fetch-request.ts';
import { createGuard, type Proven, type RequireProofOptions } from './guard.ts';

export type { Proven, RequireProofOptions } from './guard.ts';

/**
 * Wraps a handler of Hono: it is called only with an accepted proof, as its second argument. Everything else is answered here, as by
 * '@ori/verifier/fetch'; errors that the handler throws go to `app.onError`.
 *
 *     app.post('/api/invoke', requireProof(verifier, { bodyBytesMax: 1_000_000 }, (c, { proof, body }) => c.text(proof.user)));
 *
 * @throws {TypeError} invalid options.
 */
export function requireProof<Answered extends Response, E extends Env = Env>(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (context: Context<E>, proven: Proven) => Answered | Promise<Answered>,
): (context: Context<E>) => Promise<Answered | Response> {
  const guard = createGuard(verifier, options, handler);
  return async (context) => {
    const { proven, answer } = await guard.judge(arrivalOf(context.req.raw));
    if (proven === undefined) return new Response(answer.body, answer);
    return handler(context, proven);
  };
}
