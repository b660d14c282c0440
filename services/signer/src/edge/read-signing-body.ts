import type { IncomingMessage } from 'node:http';
import { BodyError, takeBody } from '@ori/http/body';
import type { Deadline } from '@ori/http/deadline';
import { onlyValueOf } from '@ori/http/raw-headers';
import { checkBodyHeaders } from '../core/stages/check-body-headers.ts';
import { SigningError } from '../core/stages/signing-error.ts';

/**
 * Reads a signing request's body, as far as its headers allow. Call it once the caller is known, because it sends
 * `100 Continue`.
 *
 * @throws SigningError `unsupported_media_type` or `payload_too_large`; BodyError `body_aborted`; BusyError;
 *   DeadlineError
 */
export function readSigningBody(req: IncomingMessage, deadline: Deadline): Uint8Array | Promise<Uint8Array> {
  const { headers } = req;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const allowance = checkBodyHeaders({
    contentType: onlyValueOf(req, 'content-type'),
    contentEncoding: headers['content-encoding'],
    contentLength: isChunked ? undefined : Number(headers['content-length'] ?? 0),
  });
  const refuse = (error: unknown): never => {
    if (!(error instanceof BodyError) || error.code !== 'body_too_large') throw error;
    throw new SigningError(allowance.excess, error.message, { cause: error });
  };
  try {
    const body = takeBody(req, { bytesMax: allowance.bytesMax, deadline });
    return body instanceof Promise ? body.catch(refuse) : body;
  } catch (error) {
    return refuse(error);
  }
}
