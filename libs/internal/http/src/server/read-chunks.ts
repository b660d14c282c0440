import type { IncomingMessage } from 'node:http';
import { beginBody, drainBody, type ReadBodyOptions } from './body.ts';

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
