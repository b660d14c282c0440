import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { requireProof } from '@ori/verifier/node';
import { type Contestants, judging } from '../contest.ts';
import { BODY, createProof, openVerifier, PATH } from '../proofs.ts';

/** A call through the adapter of node:http, with a memory store that keeps its answer and with one that does not. */
export const CONTESTANTS: Contestants = {
  answers: () => open(true),
  plain: () => open(false),
};

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const ANSWER = JSON.stringify({ done: 'x'.repeat(1024 - 11) });

function open(answers: boolean) {
  const { verifier, now } = openVerifier(Date.now, answers);
  const judged = new WeakMap<ServerResponse, () => void>();
  const handle = requireProof(verifier, { bodyBytesMax: 10_000 }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(ANSWER);
    judged.get(response)?.();
  });
  return judging<Call>(
    () => callOf(createProof(now()).rawHeaders, BODY),
    ({ request, response }) =>
      new Promise<void>((resolve, reject) => {
        judged.set(response, () => (response.statusCode === 200 ? resolve() : reject(new Error('refused'))));
        handle(request, response);
      }),
    // That it refuses is tested elsewhere; here an answer that the adapter gave would never be judged.
    () => [],
  );
}

/** A request that has arrived whole, on a socket that nobody reads. */
function callOf(rawHeaders: readonly string[], body: Uint8Array): Call {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: 'POST', url: PATH, rawHeaders: [...rawHeaders], complete: true });
  request.push(body);
  request.push(null);
  return { request, response: new ServerResponse(request) };
}
