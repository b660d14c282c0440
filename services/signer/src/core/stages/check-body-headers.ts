import { SigningError } from './signing-error.ts';

/** The largest signing request, in bytes. */
export const BODY_BYTES_MAX = 1_048_576;

/** The headers of a body that was not read yet. */
export interface BodyHeaders {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** Undefined for a chunked body. */
  readonly contentLength: number | undefined;
}

/** How many bytes of a body may be read, and the refusal code for one more. */
export interface BodyAllowance {
  readonly bytesMax: number;
  readonly excess: 'payload_too_large' | 'unsupported_media_type';
}

/**
 * Checks the headers of a body, so that no byte of a refused body is read. A body of another media
 * type must be empty, which a chunked body shows only at its first byte; so the result is an allowance.
 *
 * @throws SigningError `unsupported_media_type` or `payload_too_large`, in this order
 */
export function checkBodyHeaders(headers: BodyHeaders): BodyAllowance {
  const encoding = headers.contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new SigningError('unsupported_media_type', 'a content encoding');
  const mediaType = headers.contentType?.split(';', 1)[0]?.trim().toLowerCase();
  const allowance: BodyAllowance =
    mediaType === 'application/json'
      ? { bytesMax: BODY_BYTES_MAX, excess: 'payload_too_large' }
      : { bytesMax: 0, excess: 'unsupported_media_type' };
  if ((headers.contentLength ?? 0) > allowance.bytesMax) {
    throw new SigningError(allowance.excess, `more than ${allowance.bytesMax} bytes announced`);
  }
  return allowance;
}
