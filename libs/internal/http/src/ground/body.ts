import type { IncomingMessage, ServerResponse } from 'node:http';
import { OriError } from '@ori/proof/errors';
import { BusyError } from '@ori/runtime/busy-error';
import type { Deadline } from './deadline.ts';
import { findExchange } from './exchange.ts';
import { decideKeepAlive } from './keep-alive.ts';

export type BodyErrorCode = 'body_too_large' | 'content_encoding_unsupported' | 'body_aborted';

/** The body of the request is refused; the rest of it is not read. */
export class BodyError extends OriError<BodyErrorCode> {
  override readonly name = 'BodyError';
}

const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Remembers that the client waits for `100 Continue`, which is sent when the body is read. */
export function holdContinue(req: IncomingMessage, res: ServerResponse): void {
  awaitingContinue.set(req, res);
}

/** Ends a request whose body is truncated or is not valid HTTP. */
export function breakOff(req: IncomingMessage, cause: Error): void {
  const exchange = findExchange(req);
  if (exchange === undefined) return;
  const error = new BodyError('body_aborted', 'the body is truncated or not valid HTTP', { cause });
  exchange.error ??= error;
  exchange.deadline.abandon(error);
}

export interface ReadBodyOptions {
  bytesMax: number;
  /** Reading stops when it has passed. */
  deadline?: Pick<Deadline, 'check' | 'signal'>;
}

/**
 * Passes a body on as it arrives, byte for byte and whatever its content encoding, without keeping it. Call it once the caller is
 * known, because it sends `100 Continue`.
 *
 * @param take returns how many bytes of a chunk stay in memory until the body has ended; must not throw
 * @throws {BodyError} `body_too_large` before a byte is read (announced) or as soon as it exceeds the limit, `body_aborted` when the
 * client went away
 * @throws {BusyError} `bodies`, if another body needs room and this one is the oldest of the network that has most
 * @throws {DeadlineError}
 */
export async function readChunks(
  req: IncomingMessage,
  options: ReadBodyOptions,
  take: (chunk: Buffer) => number,
): Promise<void> {
  // What arrived with the head can be read as a whole after this: see `hasArrived`.
  await undefined;
  const whole = beginBody(req, options);
  if (whole === undefined) await drainBody(req, options, take);
  else take(whole);
}

/**
 * Reads a whole body, byte for byte, as `readChunks` does. One that has arrived is returned without a promise.
 *
 * @throws or rejects as `readChunks` does, and {BodyError} `content_encoding_unsupported` (anything but identity) before a byte is read
 */
export function takeBody(req: IncomingMessage, options: ReadBodyOptions): Buffer | Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new BodyError('content_encoding_unsupported', 'the body has a content encoding');
  }
  return beginBody(req, options) ?? collectBody(req, options);
}

/** The same, always with a promise. */
export async function readBody(req: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> {
  return takeBody(req, options);
}

async function collectBody(req: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> {
  let room: Buffer = Buffer.alloc(0);
  let length = 0;
  await drainBody(req, options, (chunk) => {
    const before = room.length;
    const after = length + chunk.length;
    // Not a list: a chunk may be a single byte, and is then an object of a hundred.
    if (length === 0) room = chunk;
    else if (after > before) room = Buffer.concat([room.subarray(0, length), chunk], 2 * after);
    else chunk.copy(room, length);
    length = after;
    return room.length - before;
  });
  return room.subarray(0, length);
}

/** Checks the length, tells a waiting client to continue, and returns a body that has already arrived. */
function beginBody(req: IncomingMessage, { bytesMax, deadline }: ReadBodyOptions): Buffer | undefined {
  deadline?.check();
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const held = awaitingContinue.get(req);
  if (held !== undefined) {
    awaitingContinue.delete(req);
    held.writeContinue();
  }
  if (!hasArrived(req)) return undefined;
  const body: Buffer = req.read() ?? Buffer.alloc(0);
  const exchange = findExchange(req);
  if (exchange !== undefined) {
    exchange.isBodyRead = true;
    decideKeepAlive(req);
  }
  // Otherwise the request would never end, because nothing else reads it.
  req.resume();
  if (body.length > bytesMax) throw tooLarge(bytesMax);
  return body;
}

/**
 * Whether the whole body can be read now. It is usually there before the request is complete: Node runs promises between
 * the body and the end of a request that arrived in one chunk. Listening for that end costs a signing request 6 % more.
 */
function hasArrived(req: IncomingMessage): boolean {
  if (req.complete) return true;
  return req.readableLength > 0 && req.readableLength === Number(req.headers['content-length']);
}

/** Passes on the chunks of a body until its end. @param take returns how much memory a chunk took */
function drainBody(
  req: IncomingMessage,
  { bytesMax, deadline }: ReadBodyOptions,
  take: (chunk: Buffer) => number,
): Promise<void> {
  const signal = deadline?.signal;
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const settle = (act: () => void) => {
      req.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      signal?.removeEventListener('abort', onAbort);
      share?.release();
      act();
    };
    const stop = (error: unknown) => {
      req.pause();
      settle(() => reject(error));
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) stop(tooLarge(bytesMax));
      else {
        const kept = take(chunk);
        share?.grow(kept);
      }
    };
    const onEnd = () => {
      decideKeepAlive(req);
      settle(resolve);
    };
    const onGone = (cause?: Error) =>
      stop(new BodyError('body_aborted', 'the client disconnected before the end of the body', { cause }));
    const onAbort = () => stop(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const exchange = findExchange(req);
    const share = exchange?.admission.holdBody(exchange.network, () => stop(new BusyError('bodies')));
    req.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    if (req.destroyed && !req.readableEnded && !req.complete) onGone();
  });
}

function tooLarge(bytesMax: number): BodyError {
  return new BodyError('body_too_large', `the body is larger than ${bytesMax} bytes`);
}
