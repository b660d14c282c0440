import type { VerifiedProof } from '@ori/identity/dpop/possession';
import { type Made, made } from './stage.ts';

/** The content of a request. That of a bound session is what its DPoP proof covers. */
export interface Content extends Made<'requireContent'> {
  readonly bytes: Uint8Array;
}

/**
 * Checks the DPoP proof against the content: a server in between must not be able to change a bound session's request.
 *
 * @param proven undefined for an unbound session, whose content nothing covers
 * @param bytes as they arrived
 * @throws DpopError `dpop_content_refused`
 */
export function requireContent(proven: VerifiedProof | undefined, bytes: Uint8Array): Content {
  proven?.requireContent(bytes);
  return made<Content>({ bytes });
}
