import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ANSWER_PROOF } from '@ori/proof/answer-proof';
import { ANSWER_SECONDS } from '../replay/times.ts';
import { bytesOf, type GivenHeaders, headersOf, sentAs, wholeOf } from './given.ts';
import { isBodiless } from './prover.ts';
import { RECORDED, type Recorder } from './recorder.ts';
import { holdSignal, tellSignal } from './signal.ts';

/** A response that is recorded, and what its methods did before. */
interface Recording extends Pick<ServerResponse, 'writeHead' | 'write' | 'end' | 'destroy' | 'emit'> {
  readonly recorder: Recorder;
  isBegun: boolean;
  /** What the head says of the answer, until it is sent. */
  begun: { readonly status: number; readonly headers: Readonly<Record<string, string>> } | undefined;
  /** By its status, Node leaves the body out. */
  isBodiless: boolean;
  /** A method of the response calls others. */
  isInside: boolean;
  /** The client has disconnected: `nobody` has taken its place. */
  isGone: boolean;
  patience: NodeJS.Timeout | undefined;
}

const RECORDING = Symbol('recording');

interface Recorded extends ServerResponse {
  /** Node's own: the head as it will be sent, from `writeHead` on, and whether it was. */
  _header?: string | null;
  _headerSent?: boolean;
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
    begun: undefined,
    isBodiless: false,
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
  else if (response instanceof ServerResponse && response.socket) watch(response.socket);
}

function recordHead(this: Recorded, ...args: unknown[]): unknown {
  const { writeHead, isInside } = this[RECORDING];
  // Middleware that is mounted behind may add headers here; those of middleware in front are not for the record.
  const isOutermost = this.writeHead === (recordHead as ServerResponse['writeHead']);
  if (isInside && isOutermost) return Reflect.apply(writeHead, this, args);
  const [status, reason, headers] = args;
  const given = typeof reason === 'string' ? headers : (headers ?? reason);
  return answer(this, writeHead, args, { status: Number(status), given: (given ?? {}) as GivenHeaders });
}

function recordWrite(this: Recorded, ...args: unknown[]): unknown {
  const recording = this[RECORDING];
  const { recorder, write, isInside } = recording;
  if (isInside) return Reflect.apply(write, this, args);
  const chunk = bytesOf(args);
  const more = answer(this, write, sentAs(chunk, args, write), { chunk });
  if (chunk !== undefined && !recording.isBodiless) recorder.add(chunk);
  rest(this);
  return more;
}

function recordEnd(this: Recorded, ...args: unknown[]): unknown {
  const recording = this[RECORDING];
  const { recorder, end, isInside } = recording;
  if (isInside) return Reflect.apply(end, this, args);
  const chunk = bytesOf(args);
  answer(this, end, sentAs(chunk, args, end), { chunk, isLast: true });
  recorder.end(recording.isBodiless ? undefined : chunk);
  rest(this);
  return this;
}

function recordDestroy(this: Recorded, ...args: unknown[]): unknown {
  const { recorder, patience, destroy } = this[RECORDING];
  recorder.lose();
  clearTimeout(patience);
  return Reflect.apply(destroy, this, args);
}

function recordEmit(this: Recorded, ...args: unknown[]): unknown {
  const recording = this[RECORDING];
  const { recorder, emit, destroy, isGone } = recording;
  const [event] = args;
  if (event !== 'finish' && event !== 'close') return Reflect.apply(emit, this, args);
  if (event === 'close' && recorder.isOver) recorder.lose();
  if (event === 'close' && !recorder.isOver) {
    if (this instanceof ServerResponse) {
      leave(this);
      return false;
    }
    // Over HTTP/2 the handler is told, and may yet end its answer.
    recording.patience = setTimeout(() => recorder.lose(), ANSWER_SECONDS * 1000).unref();
  }
  // What will be given again counts as written, so that `pipeline` succeeds.
  if (event === 'close' && recorder.isKept && !this.writableFinished)
    Object.defineProperty(this, 'writableFinished', { value: true });
  if (event === 'close' && isGone && this.req) tellSignal(this.req);
  tell(this);
  const isHeard = Reflect.apply(emit, this, args);
  if (event === 'finish' && isGone) Reflect.apply(destroy, this, []);
  return isHeard;
}

/** What a method was called with. */
interface Given {
  readonly status?: number;
  readonly given?: GivenHeaders;
  readonly chunk?: Uint8Array | undefined;
  readonly isLast?: boolean;
}

/**
 * Calls what was there before. Instead of what it refuses, another answer may be given. The headers are those of before: middleware in
 * between, such as compression, changes them as it changes the chunks.
 */
function answer(
  response: Recorded,
  act: (...args: never) => unknown,
  args: unknown[],
  { status = Number(response.statusCode), given = {}, chunk, isLast = false }: Given,
): unknown {
  const recording = response[RECORDING];
  const { isInside, recorder } = recording;
  if (recording.isBegun) proveLate(response, chunk, isLast);
  const headers = recording.isBegun ? undefined : headersOf(response, given);
  const proof = headers && recorder.prove(status, headers, wholeOf(headers, chunk, isLast));
  let isRefused = true;
  recording.isInside = true;
  try {
    // Node takes no list of pairs for a response that has a header.
    if (headers !== undefined && !response.headersSent && !Array.isArray((given as readonly unknown[])[0])) {
      response.setHeader(...RECORDED);
      if (proof !== undefined) response.setHeader(ANSWER_PROOF, proof);
    }
    const result = Reflect.apply(act, response, args);
    isRefused = false;
    return result;
  } finally {
    recording.isInside = isInside;
    if (headers !== undefined && !recording.isBegun && (!isRefused || response.headersSent)) {
      recording.isBegun = true;
      recording.begun = { status, headers };
      recording.isBodiless = isBodiless(status);
      recorder.begin(status, headers);
    }
  }
}

/** After `writeHead`, Node holds the head until the first chunk: if that is the whole body, the head can have its proof yet. */
function proveLate(response: Recorded, chunk: Uint8Array | undefined, isLast: boolean): void {
  const recording = response[RECORDING];
  const { begun, recorder } = recording;
  recording.begun = undefined;
  const { _header: head, _headerSent: isSent } = response;
  if (begun === undefined || isSent !== false || typeof head !== 'string') return;
  const body = wholeOf(begun.headers, chunk, isLast);
  const proof = body && recorder.prove(begun.status, begun.headers, body);
  if (proof !== undefined)
    response._header = `${head.replace(LINE, '\r\n').slice(0, -2)}${ANSWER_PROOF}: ${proof}\r\n\r\n`;
}

const LINE = new RegExp(`\\r\\n${ANSWER_PROOF}: [^\\r]*\\r\\n`, 'i');

/** Once per connection: between its end and its close, Koa and Express give no answer. */
function watch(socket: Socket & { [RECORDING]?: true }): void {
  if (socket[RECORDING] === undefined) socket.on('end', recordEndOfSocket);
  socket[RECORDING] = true;
  recordEndOfSocket.call(socket);
}

function recordEndOfSocket(this: Socket & { _httpMessage?: Partial<Recorded> | null }): void {
  const { _httpMessage: response } = this;
  if (!this.writable && response?.[RECORDING]?.recorder.isOver === false) leave(response as Recorded);
}

/** From here on nobody reads. */
function leave(response: Recorded): void {
  const recording = response[RECORDING];
  recording.isGone = true;
  if (response.socket) response.detachSocket(response.socket);
  // Node's own listener to `finish` detaches the connection that was.
  Object.assign(response, { destroyed: false, _closed: false, detachSocket: ignore });
  Object.defineProperty(response, 'writableNeedDrain', { value: false });
  response.assignSocket(nobody());
  recording.patience = setTimeout(() => response.destroy(), ANSWER_SECONDS * 1000).unref();
  // A writer may be waiting for the client to read.
  process.nextTick(() => response.emit('drain'));
}

/** A connection that takes everything, at once. */
function nobody(): Socket {
  const options: object = { writableHighWaterMark: Number.MAX_SAFE_INTEGER };
  const write = (_chunk: unknown, _encoding: unknown, done: () => void): void => done();
  const writev = (_chunks: unknown, done: () => void): void => done();
  return Object.assign(new Socket(options), { _write: write, _writev: writev }).on('error', ignore);
}

function ignore(): void {}

/** Nothing more is recorded: a handler whose client left is told so, unless all was. */
function rest(response: Recorded): void {
  const { recorder, isGone, patience } = response[RECORDING];
  if (!isGone || !recorder.isOver) return;
  clearTimeout(patience);
  if (!recorder.isKept) response.destroy();
}

/** In place of on-finished. */
function tell(response: Recorded): void {
  const waiting = response.__onFinished?.queue ?? [];
  response.__onFinished = null;
  for (const each of waiting) each(null, response);
}
