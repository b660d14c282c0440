import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ANSWER_SECONDS } from '../replay/replay-store.ts';
import type { Recorder } from './recorder.ts';
import { holdSignal, tellSignal } from './signal.ts';

type GivenHeaders = OutgoingHttpHeaders | readonly (string | number)[];

/** A response that is recorded, and what its methods did before. */
interface Recording extends Pick<ServerResponse, 'writeHead' | 'write' | 'end' | 'destroy' | 'emit'> {
  readonly recorder: Recorder;
  isBegun: boolean;
  isEnded: boolean;
  /** A method of the response calls others. */
  isInside: boolean;
  /** The client has disconnected: the response is one without a connection. */
  isGone: boolean;
  patience: NodeJS.Timeout | undefined;
}

const RECORDING = Symbol('recording');

interface Recorded extends ServerResponse {
  [RECORDING]: Recording;
  /** Of on-finished, with which Koa, Express and their middleware learn that a response is over: who waits for it. */
  __onFinished?: { queue: ((error: null, response: Recorded) => void)[] | null } | null;
}

/**
 * Records what the handler writes to a response of node:http. If the client disconnects first, the handler is not told, and its answer
 * is recorded for the question to come: for ten minutes at most, and only as long as there is something to record.
 */
export function recordAnswer(response: ServerResponse, recorder: Recorder): void {
  const { writeHead, write, end, destroy, emit } = response;
  const recorded = response as Recorded;
  recorded[RECORDING] = {
    recorder,
    writeHead,
    write,
    end,
    destroy,
    emit,
    isBegun: false,
    isEnded: false,
    isInside: false,
    isGone: false,
    patience: undefined,
  };
  // It listens to the socket, and would end a stream when the client leaves.
  const { __onFinished: waiting } = recorded;
  recorded.__onFinished = { queue: waiting?.queue ?? [] };
  if (waiting) waiting.queue = null;
  if (response.req) holdSignal(response.req);
  // Functions that all responses share: V8 keeps a response with a closure of its own until the next full garbage collection.
  response.writeHead = recordHead as typeof writeHead;
  response.write = recordWrite as typeof write;
  response.end = recordEnd as typeof end;
  response.destroy = recordDestroy as typeof destroy;
  response.emit = recordEmit as typeof emit;
  // The client left while the proof was spent.
  if (response.destroyed) leave(recorded);
}

function recordHead(this: Recorded, ...args: unknown[]): unknown {
  const given = args.at(-1);
  const isList = typeof given === 'object' && given !== null;
  begin(this, Number(args[0]), isList ? (given as GivenHeaders) : undefined);
  return attempt(this, this[RECORDING].writeHead, args);
}

function recordWrite(this: Recorded, ...args: unknown[]): unknown {
  const { recorder, write, isInside, isGone } = this[RECORDING];
  if (isInside) return Reflect.apply(write, this, args);
  begin(this, this.statusCode);
  const chunk = bytesOf(args);
  // Node refuses what is no chunk.
  const more = isGone && chunk !== undefined ? true : inside(this, write, args);
  if (chunk !== undefined) recorder.add(chunk);
  if (!isGone) return more;
  if (recorder.isOver) close(this);
  callBack(args);
  return true;
}

function recordEnd(this: Recorded, ...args: unknown[]): unknown {
  const recording = this[RECORDING];
  const { recorder, end, isInside, isEnded, isGone } = recording;
  if (isInside || isEnded) return Reflect.apply(end, this, args);
  begin(this, this.statusCode);
  const chunk = bytesOf(args);
  inside(this, end, isGone && chunk !== undefined ? [] : args);
  recorder.end(chunk);
  recording.isEnded = true;
  if (isGone) {
    // What no client will read counts as written, so that `pipeline` succeeds.
    Object.defineProperty(this, 'writableFinished', { value: true });
    close(this);
    callBack(args);
  }
  return this;
}

function recordDestroy(this: Recorded, ...args: unknown[]): unknown {
  const recording = this[RECORDING];
  recording.recorder.lose();
  recording.isEnded = true;
  if (recording.isGone) close(this);
  else Reflect.apply(recording.destroy, this, args);
  return this;
}

function recordEmit(this: Recorded, ...args: unknown[]): unknown {
  const { emit, isEnded, isGone } = this[RECORDING];
  // Node's own listener would fail on a response without a socket, and end the process.
  if (isGone && args[0] === 'finish') return false;
  if (args[0] !== 'close' || isEnded || !(this instanceof ServerResponse)) {
    if (args[0] === 'finish' || args[0] === 'close') tell(this);
    return Reflect.apply(emit, this, args);
  }
  leave(this);
  return false;
}

/** Before anything in between, such as compression, changes the headers: it has not changed the chunks yet either. */
function begin(response: Recorded, status: number, given?: GivenHeaders): void {
  const recording = response[RECORDING];
  if (recording.isBegun) return;
  recording.isBegun = true;
  recording.recorder.begin(status, headersOf(response, given));
}

function inside(response: Recorded, act: ServerResponse['write' | 'end'], args: unknown[]): unknown {
  response[RECORDING].isInside = true;
  try {
    return attempt(response, act, args);
  } finally {
    response[RECORDING].isInside = false;
  }
}

/** Instead of what Node refuses, another answer may be given. */
function attempt(response: Recorded, act: (...args: never) => unknown, args: unknown[]): unknown {
  try {
    return Reflect.apply(act, response, args);
  } catch (error) {
    response[RECORDING].isBegun = response.headersSent;
    throw error;
  }
}

/** From here on nobody reads. */
function leave(response: Recorded): void {
  const recording = response[RECORDING];
  recording.isGone = true;
  Object.assign(response, { destroyed: false, _closed: false });
  if (response.socket) response.detachSocket(response.socket);
  if (recording.recorder.isOver) {
    close(response);
    return;
  }
  recording.patience = setTimeout(() => {
    recording.recorder.lose();
    close(response);
  }, ANSWER_SECONDS * 1000).unref();
  // A writer may be waiting for the client to read.
  process.nextTick(() => response.emit('drain'));
}

/** Tells the handler what it would have been told when the client disconnected. */
function close(response: Recorded): void {
  const { patience, emit } = response[RECORDING];
  clearTimeout(patience);
  response[RECORDING].isEnded = true;
  response.destroyed = true;
  process.nextTick(() => {
    if (response.req) tellSignal(response.req);
    tell(response);
    emit.call(response, 'close');
  });
}

/** In place of on-finished. */
function tell(response: Recorded): void {
  const waiting = response.__onFinished?.queue ?? [];
  response.__onFinished = null;
  for (const each of waiting) each(null, response);
}

function callBack(args: unknown[]): void {
  const last = args.at(-1);
  if (typeof last === 'function') process.nextTick(last as () => void);
}

/** The arguments of `write` or `end` as bytes of their own, because the handler may use its buffer again. */
function bytesOf([chunk, encoding]: unknown[]): Uint8Array | undefined {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : undefined;
}

/** Names in lower case, repeated values joined. `writeHead` also takes a flat list of names and values. */
function headersOf(response: Recorded, given: GivenHeaders = {}): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of response.getHeaderNames()) headers[name] = textOf(response.getHeader(name));
  if (Array.isArray(given)) return Object.assign(headers, headersOfList(given.flat()));
  for (const name in given) {
    const value = (given as OutgoingHttpHeaders)[name];
    if (value !== undefined) headers[name.toLowerCase()] = textOf(value);
  }
  return headers;
}

function headersOfList(list: readonly (string | number)[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < list.length; index += 2) {
    const name = String(list[index]).toLowerCase();
    const value = textOf(list[index + 1]);
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

const textOf = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
