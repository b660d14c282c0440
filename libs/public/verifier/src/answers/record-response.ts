import { ANSWER_SECONDS } from '../replay/replay-store.ts';
import type { Recorder } from './recorder.ts';

/**
 * Records the response that a handler returns. If the client disconnects, the rest of its body is read for the question to come: for ten
 * minutes at most, and only as long as there is something to record.
 */
export async function recordResponse<Answered extends Response>(
  recorder: Recorder | undefined,
  answered: () => Answered | Promise<Answered>,
): Promise<Answered> {
  if (recorder === undefined) return answered();
  try {
    const response = await answered();
    // An upgrade, which cannot be given again.
    if (response.status < 200) recorder.lose();
    recorder.begin(response.status, Object.fromEntries(response.headers));
    if (response.body === null) recorder.end();
    if (recorder.isOver || response.body === null) return response;
    return new Response(recorded(response.body, recorder), response) as Answered;
  } catch (error) {
    // Of the handler, or of what it returned: nothing, or a response that was read.
    recorder.lose();
    throw error;
  }
}

function recorded(body: ReadableStream<Uint8Array>, recorder: Recorder): ReadableStream<Uint8Array> {
  const reader = body.getReader();

  async function next(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await reader.read();
      if (done) recorder.end();
      else recorder.add(value);
      return value;
    } catch (error) {
      recorder.lose();
      throw error;
    }
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await next();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    async cancel(reason) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, ANSWER_SECONDS * 1000, 'late');
      });
      try {
        while (!recorder.isOver) if ((await Promise.race([next(), late])) === 'late') recorder.lose();
      } finally {
        clearTimeout(timer);
      }
      await reader.cancel(reason);
    },
  });
}
