import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Verifier } from '../verifier.ts';
import { createGuard, type RequireProofOptions } from './guard.ts';
import { arrivalOf, closesConnection, type NodeProven, toNodeProven } from './node-request.ts';
import { keepProven, provenOf } from './proven.ts';

export type { RequireProofOptions } from './guard.ts';
export type { NodeProven as Proven } from './node-request.ts';
export { provenOf } from './proven.ts';

type Done = (error: null, payload: Readable) => void;

/**
 * The options of a route whose handler is called only with an accepted proof, as its third argument; `request.body` is
 * the result of Fastify's parser for the same bytes. Everything else is answered here, as by '@ori/verifier/node';
 * errors that the handler throws go to Fastify.
 *
 *     app.post('/api/invoke', requireProof(verifier, { bodyBytesMax: 1_000_000 }, (request, reply, { proof }) => proof.user));
 *
 * @throws {TypeError} invalid options.
 */
export function requireProof(
  verifier: Verifier,
  options: RequireProofOptions,
  handler: (request: FastifyRequest, reply: FastifyReply, proven: NodeProven) => unknown,
) {
  const guard = createGuard(verifier, options, handler);

  async function judge(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: Done,
  ): Promise<void> {
    const { raw } = request;
    const arrival = arrivalOf(raw);
    const misuse = payload === raw ? arrival.misuse : 'another preParsing hook ran before it';
    const { proven, answer, closes } = await guard.judge({ ...arrival, misuse });
    if (proven === undefined) {
      if (closesConnection(raw, guard.bodyBytesMax, closes)) reply.headers({ connection: 'close' });
      const { status, headers, body } = answer;
      // Fastify adds a type to bytes without one, but not to a stream.
      const untyped = body.length === 0 ? undefined : again(Buffer.from(body));
      reply
        .code(status)
        .headers(headers)
        .send('content-type' in headers ? body : untyped);
      return;
    }
    verifier.answers?.recordNode(reply.raw, proven.proof);
    keepProven(request, toNodeProven(proven));
    done(null, again(proven.body));
  }

  return {
    /** `bodyBytesMax`, instead of Fastify's 1 MiB: it would refuse a larger body after its proof was spent. */
    bodyLimit: Math.max(1, guard.bodyBytesMax),
    /** Reads the body and verifies the proof, then passes the same bytes to Fastify's parser. */
    preParsing: (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void =>
      void judge(request, reply, payload, done),
    handler: (request: FastifyRequest, reply: FastifyReply): unknown =>
      handler(request, reply, provenOf(request)),
  };
}

/** The same bytes as a stream; Fastify compares its count with Content-Length. */
function again(body: Uint8Array): Readable {
  const stream = new Readable();
  stream.push(body);
  stream.push(null);
  return Object.assign(stream, { receivedEncodedLength: body.byteLength });
}

/** The options of a route that `requireProof` makes. */
export type ProvenRoute = ReturnType<typeof requireProof>;
