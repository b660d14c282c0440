import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deadline } from './deadline.ts';

export type BodyErrorCode = 'body_too_large' | 'content_encoding_unsupported' | 'body_aborted';

/** The request's body cannot be taken; what is left of it is not read. */
export class BodyError extends Error {
  readonly code: BodyErrorCode;

  constructor(code: BodyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BodyError';
    this.code = code;
  }
}

const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Remembers that the client waits for `100 Continue`, which is sent when the body is first asked for. */
export function holdContinue(req: IncomingMessage, res: ServerResponse): void {
  awaitingContinue.set(req, res);
}

export interface ReadBodyOptions {
  bytesMax: number;
  /** Once it has passed, the reading stops. */
  deadline?: Pick<Deadline, 'check' | 'signal'>;
}

/**
 * Reads a request's body as it was sent. Comes after the caller is known: only now is a waiting client told to
 * continue. It judges neither media type nor content.
 *
 * @throws {BodyError} `content_encoding_unsupported` (anything but identity) and `body_too_large` (announced) before
 * a byte is read, `body_too_large` as soon as one byte too many came, `body_aborted` when the client went away.
 * @throws {DeadlineError}
 */
export async function readBody(req: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> {
  const { bytesMax, deadline } = options;
  deadline?.check();
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new BodyError('content_encoding_unsupported', 'the body has a content encoding');
  }
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const held = awaitingContinue.get(req);
  if (held !== undefined) {
    awaitingContinue.delete(req);
    held.writeContinue();
  }
  return req.complete ? takeWhole(req, bytesMax) : collect(req, bytesMax, deadline?.signal);
}

/** A body that is here to its end, as one is that came together with its head. */
function takeWhole(req: IncomingMessage, bytesMax: number): Buffer {
  const body: Buffer = req.read() ?? Buffer.alloc(0);
  if (body.length > bytesMax) throw tooLarge(bytesMax);
  return body;
}

function collect(req: IncomingMessage, bytesMax: number, signal: AbortSignal | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (act: () => void) => {
      req.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      signal?.removeEventListener('abort', onAbort);
      act();
    };
    const stop = (error: unknown) => {
      req.pause();
      settle(() => reject(error));
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) stop(tooLarge(bytesMax));
      else chunks.push(chunk);
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, bytes)));
    const onGone = (cause?: Error) =>
      stop(new BodyError('body_aborted', 'the client went away before the end of the body', { cause }));
    const onAbort = () => stop(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    req.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    if (req.destroyed && !req.readableEnded && !req.complete) onGone();
  });
}

function tooLarge(bytesMax: number): BodyError {
  return new BodyError('body_too_large', `the body is larger than ${bytesMax} bytes`);
}
