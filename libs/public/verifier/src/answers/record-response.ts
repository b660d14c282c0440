import { ANSWER_PROOF } from '@ori/proof/answer-proof';
import { ANSWER_SECONDS } from '../replay/times.ts';
import { RECORDED, type Recorder } from './recorder.ts';
import { holdSignal, passSignal, tellSignal } from './signal.ts';

const EMPTY = new Uint8Array();

/**
 * Records the response that a handler returns. If the client disconnects, the handler is not told, and the rest of its body is read for
 * the question to come: for ten minutes at most, and only as long as there is something to record. With a key, the response waits for
 * the first part of its body, unless it is an event stream.
 */
export async function recordResponse<Answered extends Response>(
  recorder: Recorder,
  request: Request,
  answered: () => Answered | Promise<Answered>,
): Promise<Answered> {
  holdSignal(request);
  try {
    const response = await answered();
    const { status, body } = response;
    const parts = body === null || recorder.prover === undefined ? undefined : new Parts(body);
    // @hono/node-server gives a body without a type one of its own, which would not be proven.
    const untyped = parts && { 'content-type': 'application/octet-stream' };
    const headers: Record<string, string> = { ...untyped, ...Object.fromEntries(response.headers) };
    const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
    const whole = body === null ? EMPTY : isStream ? undefined : await parts?.whole();
    const proof = recorder.prove(status, headers, whole);
    recorder.begin(status, headers);
    if (whole !== undefined) recorder.end(whole);
    if (recorder.isOver) passSignal(request);
    if (proof === undefined && (recorder.isOver || body === null)) return response;
    const rest = whole ?? recorded(parts ?? new Parts(body as ReadableStream), recorder, request);
    const passed = new Response(rest === EMPTY ? null : rest, response);
    if (untyped) passed.headers.set('content-type', headers['content-type'] as string);
    if (recorder.isKept || !recorder.isOver) passed.headers.set(...RECORDED);
    if (proof !== undefined) passed.headers.set(ANSWER_PROOF, proof);
    return passed as Answered;
  } catch (error) {
    // Of the handler, or of what it returned: nothing, or a response that was read.
    recorder.lose();
    throw error;
  }
}

/** A body, whose beginning can be looked at before it is passed on. */
class Parts {
  readonly reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer> | string>;
  readonly #begun: ReturnType<typeof this.reader.read>[] = [];

  constructor(body: ReadableStream) {
    this.reader = body.getReader();
  }

  next(): ReturnType<typeof this.reader.read> {
    return this.#begun.shift() ?? this.reader.read();
  }

  /** All of it, if that is one part, and its end comes with it. */
  async whole(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      this.#begun.push(this.reader.read());
      const first = await this.#begun[0];
      if (first?.done !== false) return EMPTY;
      const second = this.reader.read();
      this.#begun.push(second);
      const soon = new Promise<undefined>((resolve) => {
        timer = setTimeout(resolve, 0, undefined);
      });
      const end = await Promise.race([second, soon]);
      return end?.done ? bytesOf(first.value) : undefined;
    } catch {
      // Who reads on gets the error.
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Bun and @hono/node-server take text, too. */
function bytesOf(value: Uint8Array<ArrayBuffer> | string): Uint8Array<ArrayBuffer> | undefined {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  return value instanceof Uint8Array ? value : undefined;
}

function recorded(parts: Parts, recorder: Recorder, request: Request): ReadableStream<Uint8Array> {
  async function next(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await parts.next();
      const chunk = done ? undefined : bytesOf(value);
      if (done || value === undefined) recorder.end();
      else if (chunk !== undefined) recorder.add(chunk);
      // No part of a body, by the standard: a server breaks off.
      else recorder.lose();
      return chunk ?? (value as undefined);
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
      // Too large, and given to nobody.
      recorder.lose();
      tellSignal(request, reason);
      await parts.reader.cancel(reason);
    },
  };
  return new ReadableStream(source, strategy);
}
