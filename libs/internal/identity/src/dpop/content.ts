import { createHash } from 'node:crypto';

/**
 * The claim over the exact content of a request: its SHA-256 in base64url without padding. Name and encoding are those
 * of the CAMARA Security and Interoperability Profile; RFC 9449, section 4.2, permits additional claims.
 */
export const CONTENT_CLAIM = 'x-camara:bh';

/** The digest of the content of a request, as it arrives. That of no content is a digest, too. */
export class ContentDigest {
  readonly #hash = createHash('sha256');

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  /** As {@link CONTENT_CLAIM} has it; to be called once. */
  base64url(): string {
    return this.#hash.digest('base64url');
  }
}
