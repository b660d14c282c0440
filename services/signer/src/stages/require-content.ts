import type { ContentDigest, VerifiedProof } from '@ori/identity/dpop';

/** The content of a request. That of a bound session is what its DPoP proof covers. */
class Content {
  protected readonly stage = 'requireContent';
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export type { Content };

/**
 * Part of the fifth stage: a server in between must not be able to change what a bound session asks for.
 *
 * @param proven undefined for an unbound session, whose content nothing covers
 * @param digest of the bytes as they arrived
 * @throws DpopError `dpop_content_refused`
 */
export function requireContent(
  proven: VerifiedProof | undefined,
  digest: ContentDigest | undefined,
  bytes: Uint8Array,
): Content {
  proven?.requireContent(digest);
  return new Content(bytes);
}
