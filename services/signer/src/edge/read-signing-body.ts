import type { IncomingMessage } from 'node:http';
import { BodyError, readBody } from '@ori/http/body';
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
export async function readSigningBody(req: IncomingMessage, deadline: Deadline): Promise<Uint8Array> {
  const { headers } = req;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const allowance = checkBodyHeaders({
    contentType: onlyValueOf(req, 'content-type'),
    contentEncoding: headers['content-encoding'],
    contentLength: isChunked ? undefined : Number(headers['content-length'] ?? 0),
  });
  try {
    return await readBody(req, { bytesMax: allowance.bytesMax, deadline });
  } catch (error) {
    if (error instanceof BodyError && error.code === 'body_too_large') {
      throw new SigningError(allowance.excess, error.message, { cause: error });
    }
    throw error;
  }
}
