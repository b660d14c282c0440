import type { IncomingMessage } from 'node:http';
import { BodyError } from '@ori/http/body';
import type { Deadline } from '@ori/http/deadline';
import { readJsonBody } from '@ori/http/json-body';
import type { JsonBudget } from '@ori/http/json-scan';
import { onlyValueOf } from '@ori/http/raw-headers';
import type { ContentDigest } from '@ori/identity/dpop/content';
import { checkBodyHeaders } from '../core/stages/check-body-headers.ts';
import { SigningError } from '../core/stages/signing-error.ts';

/** A valid body is below 13 KiB, even with every character of its path escaped. */
const JSON_BUDGET: JsonBudget = { bytesMax: 16 * 1024, depthMax: 8, valuesMax: 64 };

/**
 * Reads a signing request's body, as far as its headers allow. Call it once the caller is known, because it sends
 * `100 Continue`.
 *
 * @throws SigningError `unsupported_media_type`, `payload_too_large` or `invalid_body`; BodyError `body_aborted`; BusyError;
 *   DeadlineError
 */
export async function readSigningBody(
  req: IncomingMessage,
  deadline: Deadline,
  digest?: ContentDigest,
): Promise<Uint8Array> {
  const { headers } = req;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const allowance = checkBodyHeaders({
    contentType: onlyValueOf(req, 'content-type'),
    contentEncoding: headers['content-encoding'],
    contentLength: isChunked ? undefined : Number(headers['content-length'] ?? 0),
  });
  try {
    const { bytesMax } = allowance;
    const onContent = digest && ((bytes: Uint8Array) => digest.update(bytes));
    return await readJsonBody(req, { bytesMax, json: JSON_BUDGET, deadline, onContent });
  } catch (error) {
    if (error instanceof BodyError && error.code === 'body_too_large') {
      throw new SigningError(allowance.excess, error.message, { cause: error });
    }
    if (error instanceof BodyError && error.code === 'json_beyond_budget') {
      throw new SigningError('invalid_body', error.message);
    }
    throw error;
  }
}
