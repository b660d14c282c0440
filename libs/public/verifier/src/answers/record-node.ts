import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ANSWER_SECONDS } from '../replay/replay-store.ts';
import type { Recorder } from './recorder.ts';

type GivenHeaders = OutgoingHttpHeaders | readonly (string | number)[] | undefined;

/**
 * Records what the handler writes to a response of node:http. If the client disconnects first, the handler is not told, and its answer
 * is recorded for the question to come: for ten minutes at most, and only as long as there is something to record.
 */
export function recordAnswer(response: ServerResponse, recorder: Recorder): void {
  const { writeHead, write, end, destroy, emit } = response;
  let isBegun = false;
  let isEnded = false;
  let isInside = false;
  let isGone = false;
  let patience: NodeJS.Timeout | undefined;

  /** Before anything in between, such as compression, changes the headers: it has not changed the chunks yet either. */
  function begin(status: number, given?: GivenHeaders): void {
    if (isBegun) return;
    isBegun = true;
    recorder.begin(status, { ...recordOf(response.getHeaders()), ...recordOf(given) });
  }

  function record(chunk: unknown, encoding: unknown): void {
    if (typeof chunk === 'string') recorder.add(Buffer.from(chunk, encodingOf(encoding)));
    else if (chunk instanceof Uint8Array) recorder.add(chunk);
    if (isGone && recorder.isOver) close();
  }

  /** From here on nobody reads: the response is one without a connection. */
  function leave(): void {
    isGone = true;
    Object.assign(response, { destroyed: false, _closed: false });
    if (response.socket) response.detachSocket(response.socket);
    if (recorder.isOver) {
      close();
      return;
    }
    patience = setTimeout(() => {
      recorder.lose();
      close();
    }, ANSWER_SECONDS * 1000).unref();
    // A writer may be waiting for the client to read.
    process.nextTick(() => response.emit('drain'));
  }

  /** Tells the handler what it would have been told when the client disconnected. */
  function close(): void {
    clearTimeout(patience);
    isEnded = true;
    response.destroyed = true;
    process.nextTick(() => emit.call(response, 'close'));
  }

  function inside<T>(act: () => T): T {
    isInside = true;
    try {
      return act();
    } finally {
      isInside = false;
    }
  }

  const hooks = {
    writeHead(...args: unknown[]) {
      const given = args.at(-1);
      begin(
        Number(args[0]),
        typeof given === 'object' && given !== null ? (given as GivenHeaders) : undefined,
      );
      return Reflect.apply(writeHead, response, args);
    },
    write(...args: unknown[]) {
      if (isInside) return Reflect.apply(write, response, args);
      begin(response.statusCode);
      const more = isGone ? true : inside(() => Reflect.apply(write, response, args));
      record(args[0], args[1]);
      if (isGone) callBack(args);
      return more;
    },
    end(...args: unknown[]) {
      if (isInside || isEnded) return Reflect.apply(end, response, args);
      begin(response.statusCode);
      inside(() => Reflect.apply(end, response, isGone ? [] : args));
      record(args[0], args[1]);
      recorder.end();
      isEnded = true;
      if (isGone) {
        close();
        callBack(args);
      }
      return response;
    },
    destroy(...args: unknown[]) {
      recorder.lose();
      isEnded = true;
      Reflect.apply(destroy, response, args);
      if (isGone) close();
      return response;
    },
    emit(event: string, ...args: unknown[]) {
      if (event !== 'close' || isEnded || !(response instanceof ServerResponse)) {
        return Reflect.apply(emit, response, [event, ...args]);
      }
      leave();
      return false;
    },
  };
  Object.assign(response, hooks);
  // The client left while the proof was spent.
  if (response.destroyed) leave();
}

function callBack(args: unknown[]): void {
  const last = args.at(-1);
  if (typeof last === 'function') process.nextTick(last as () => void);
}

const encodingOf = (encoding: unknown): BufferEncoding =>
  typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';

/** Names in lower case, repeated values joined. `writeHead` also takes a flat list of names and values. */
function recordOf(headers: GivenHeaders = {}): Record<string, string> {
  const record: Record<string, string> = {};
  const put = (name: unknown, value: unknown): void => {
    if (value === undefined) return;
    const known = String(name).toLowerCase();
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    record[known] = known in record ? `${record[known]}, ${text}` : text;
  };
  if (Array.isArray(headers)) {
    const flat = headers.flat();
    for (let index = 0; index < flat.length; index += 2) put(flat[index], flat[index + 1]);
  } else {
    for (const [name, value] of Object.entries(headers)) put(name, value);
  }
  return record;
}
