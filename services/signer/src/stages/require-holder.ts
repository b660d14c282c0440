import type { TokenFacts } from '@ori/identity/access-token';
import { keyToProve, requirePossession, type VerifiedProof } from '@ori/identity/dpop';
import type { Caller } from './authenticate.ts';

/** A caller who may use its credential: a session bound to a key comes with proof of that key. */
class Holder {
  protected readonly stage = 'requireHolder';
  readonly session: TokenFacts | undefined;

  constructor(session: TokenFacts | undefined) {
    this.session = session;
  }
}

export type { Holder };

/** The thumbprint of the key that the caller has to prove; undefined where there is nothing to prove. */
export function keyOfCaller({ scheme, session }: Caller): string | undefined {
  return keyToProve({ scheme, keyThumbprint: session?.keyThumbprint });
}

/**
 * Third stage: RFC 9449, sections 7.1 and 7.2. An API key is never bound; whether it may sign is decided
 * later.
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
  return new Holder(session);
}
