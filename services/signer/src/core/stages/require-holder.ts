import type { TokenFacts } from '@ori/identity/access-token';
import { keyToProve, requirePossession } from '@ori/identity/dpop/binding';
import type { VerifiedProof } from '@ori/identity/dpop/possession';
import type { Caller } from './authenticate.ts';
import { type Made, made } from './stage.ts';

/** A caller that may use its credential: for a session bound to a key, it has proven possession of that key. */
export interface Holder extends Made<'requireHolder'> {
  readonly session: TokenFacts | undefined;
}

/** The thumbprint of the key whose possession the caller must prove; undefined if it need not prove any. */
export function keyOfCaller({ scheme, session }: Caller): string | undefined {
  return keyToProve({ scheme, keyThumbprint: session?.keyThumbprint });
}

/**
 * Checks that scheme and key match the credential (RFC 9449, sections 7.1 and 7.2). An API key is never bound;
 * `requireScope` decides whether it may sign.
 *
 * @param proven the proof by the key that {@link keyOfCaller} named
 * @param requireDpop whether sessions that are bound to no key are refused
 * @throws DpopError `dpop_binding_refused`, `dpop_required`
 */
export function requireHolder(
  { scheme, session }: Caller,
  proven: VerifiedProof | undefined,
  requireDpop: boolean,
): Holder {
  const credential = { scheme, keyThumbprint: session?.keyThumbprint };
  requirePossession(credential, proven, requireDpop && session !== undefined);
  return made<Holder>({ session });
}
