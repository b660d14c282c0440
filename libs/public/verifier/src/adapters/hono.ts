import type { Context, Env, Handler } from 'hono';
import type { Verifier } from '../verifier.ts';
import { arrivalOf, responseOf } from './fetch-request.ts';
import { createGuard, type Proven, type RequireProofOptions } from './guard.ts';

export type { Proven, RequireProofOptions } from './guard.ts';

/**
 * Wraps a handler of Hono: it is called only with an accepted proof, as its second argument. Everything else is answered here, as by
 * '@ori/verifier/fetch'; errors that the handler throws go to `app.onError`. `c.req.json()` and its relatives return the bytes that
 * were signed.
 *
 *     app.post('/api/invoke', requireProof(verifier, { bodyBytesMax: 1_000_000 }, (c, { proof, body }) => c.text(proof.user)));
 *
 * @throws {TypeError} invalid options.
 */
// biome-ignore lint/suspicious/noExplicitAny: as in Hono's own types, so that the app's variables and path reach the handler.
export function requireProof<E extends Env = any, Answered extends Response = Response>(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (context: Context<E>, proven: Proven) => Answered | Promise<Answered>,
  // biome-ignore lint/suspicious/noExplicitAny: the same.
): Handler<E, any, any, Promise<Answered | Response>> {
  const guard = createGuard(verifier, options, handler);
  return async (context) => {
    const judgement = await guard.judge(arrivalOf(context.req.raw, context.env));
    if (judgement.proven === undefined) return responseOf(judgement);
    const { proven } = judgement;
    // Hono's own cache of a body that was read.
    const bytes = proven.body.slice().buffer;
    Object.assign(context.req.bodyCache, { arrayBuffer: Promise.resolve(bytes) });
    const { answers } = verifier;
    if (answers === undefined) return handler(context, proven);
    const response = await answers.recordResponse(context.req.raw, proven.proof, async () => {
      const given = await handler(context, proven);
      // Hono adds the headers that were set beside it.
      if (given !== undefined) context.res = given;
      return context.finalized ? (context.res as Answered) : given;
    });
    // Hono overlooks what is returned after that.
    context.res = response;
    return response;
  };
}
