import type { Context, Next } from 'koa';
import type { Verifier } from '../verifier.ts';
import { createGuard, type RequireProofOptions } from './guard.ts';
import { arrivalOf, closesConnection, type NodeProven, toNodeProven } from './node-request.ts';

export type { RequireProofOptions } from './guard.ts';
export type { NodeProven as Proven } from './node-request.ts';

/**
 * Koa middleware that calls `handler` only with an accepted proof, as its second argument. Everything else is answered here, as by
 * '@ori/verifier/node'; errors that the handler throws go to Koa. Mount it before any body parser.
 *
 *     app.use(requireProof(verifier, { bodyBytesMax: 1_000_000 }, (ctx, { proof, body }) => { ctx.body = proof.user; }));
 *
 * @throws {TypeError} invalid options.
 */
export function requireProof(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (context: Context, proven: NodeProven, next: Next) => unknown,
): (context: Context, next: Next) => Promise<void> {
  const guard = createGuard(verifier, options, handler);
  return async (context, next) => {
    const { req } = context;
    const arrival = arrivalOf(Object.assign(req, { originalUrl: context.originalUrl }));
    const { proven, answer, closes } = await guard.judge(arrival);
    if (proven !== undefined) {
      const recorder = verifier.answers?.recordNode(context.res, proven.proof);
      const given = toNodeProven(proven);
      // Body parsers of Koa pass over a request that has one; otherwise they fail on a stream that was read.
      Object.assign(context.request, { body: given.body });
      try {
        await handler(context, given, next);
      } catch (error) {
        // Koa leaves an answer that has begun as it is.
        if (context.headerSent) recorder?.lose();
        throw error;
      }
      return;
    }
    if (closesConnection(req, guard.bodyBytesMax, closes)) context.set({ connection: 'close' });
    context.set(answer.headers);
    context.status = answer.status;
    context.body = typeof answer.body === 'string' ? answer.body : Buffer.from(answer.body);
    // Koa adds one to a kept answer without.
    if (answer.headers['content-type'] === undefined) context.remove('content-type');
  };
}
