import { DpopError } from './dpop-error.ts';
import type { VerifiedProof } from './possession.ts';

/** The scheme of a credential, and the key it is bound to. */
export interface BoundCredential {
  readonly scheme: 'bearer' | 'dpop';
  /** `cnf.jkt` of the access token; undefined for an unbound one and for an API key. */
  readonly keyThumbprint: string | undefined;
}

/** The thumbprint of the key whose possession must be proven; undefined if none must be. */
export function keyToProve({ scheme, keyThumbprint }: BoundCredential): string | undefined {
  return scheme === 'dpop' ? keyThumbprint : undefined;
}

/**
 * Checks that scheme and binding match: a bound token needs a proof by its key, an unbound one must be sent as Bearer
 * (RFC 9449, sections 7.1 and 7.2).
 *
 * @param required whether unbound sessions are refused, too
 * @throws DpopError `dpop_binding_refused`, `dpop_required`
 */
export function requirePossession(
  { scheme, keyThumbprint }: BoundCredential,
  proven: VerifiedProof | undefined,
  required: boolean,
): void {
  if (keyThumbprint === undefined) {
    if (scheme === 'dpop') throw refused('an unbound credential was sent with the scheme DPoP');
    if (required) throw new DpopError('dpop_required', 'the session is not bound to a key');
    return;
  }
  if (proven?.thumbprint !== keyThumbprint) {
    throw refused('a bound access token was sent as Bearer, or with a proof by another key');
  }
}

const refused = (message: string) => new DpopError('dpop_binding_refused', message);
