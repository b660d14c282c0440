import { SigningError } from './signing-error.ts';

/** The largest signing request, in bytes. */
export const BODY_BYTES_MAX = 1_048_576;

/** What the headers say about a body that was not read yet. */
export interface BodyHeaders {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** Undefined for a chunked body, whose length shows only as it is read. */
  readonly contentLength: number | undefined;
}

/** How much of a body may be read, and what a byte more is called. */
export interface BodyAllowance {
  readonly bytesMax: number;
  readonly excess: 'payload_too_large' | 'unsupported_media_type';
}

/**
 * Judges a body by its headers, so that nothing is read of one that is refused anyway. A body of another media type may
 * only be empty, which a chunked one shows as late as its first byte; so the answer is an allowance.
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
