import { ANSWER_SECONDS } from '../replay/replay-store.ts';
import { RECORDED, type Recorder } from './recorder.ts';
import { holdSignal, passSignal, tellSignal } from './signal.ts';

/**
 * Records the response that a handler returns. If the client disconnects, the handler is not told, and the rest of its body is read for
 * the question to come: for ten minutes at most, and only as long as there is something to record.
 */
export async function recordResponse<Answered extends Response>(
  recorder: Recorder,
  request: Request,
  answered: () => Answered | Promise<Answered>,
): Promise<Answered> {
  holdSignal(request);
  try {
    const response = await answered();
    recorder.begin(response.status, Object.fromEntries(response.headers));
    if (response.body === null) recorder.end();
    if (recorder.isOver || response.body === null) {
      passSignal(request);
      return response;
    }
    const passed = new Response(recorded(response.body, recorder, request), response);
    passed.headers.set(...RECORDED);
    return passed as Answered;
  } catch (error) {
    // Of the handler, or of what it returned: nothing, or a response that was read.
    recorder.lose();
    throw error;
  }
}

function recorded(
  body: ReadableStream<Uint8Array | string>,
  recorder: Recorder,
  request: Request,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();

  async function next(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await reader.read();
      // Bun and @hono/node-server take text, too.
      const chunk = typeof value === 'string' ? new TextEncoder().encode(value) : value;
      if (done || chunk === undefined) recorder.end();
      else if (chunk instanceof Uint8Array) recorder.add(chunk);
      // No part of a body, by the standard: a server breaks off.
      else recorder.lose();
      return chunk;
    } catch (error) {
      recorder.lose();
      throw error;
    }
  }

  // One part and the end: of an answer in whose place middleware gives another, such as a timeout, nobody reads more.
  const strategy = { highWaterMark: 2 };
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const chunk = await next();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    async cancel(reason: unknown) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, ANSWER_SECONDS * 1000, 'late');
      });
      try {
        while (!recorder.isOver) if ((await Promise.race([next(), late])) === 'late') recorder.lose();
      } finally {
        clearTimeout(timer);
      }
      tellSignal(request, reason);
      await reader.cancel(reason);
    },
  };
  return new ReadableStream(source, strategy);
}
