import { refuseOtherKinds, type TokenFacts } from './access-token.ts';
import type { TokenExpectation } from './expectation.ts';
import { tokenRefused as refused } from './identity-error.ts';
import type { Arrival, Introspect } from './introspect.ts';
import { OPAQUE_CHARACTERS_MAX } from './read-bearer.ts';
import { type Claims, listOf, own, thumbprintOf } from './read-claims.ts';

/**
 * Asks the issuer about a token that only it can judge. What the token says itself, where it is a JWT, can only restrict:
 * it is refused if it is meant for others or is another kind of token, which some issuers call active too; and a key that
 * it is bound to must be proven, although the issuer does not name it.
 *
 * @param said the claims of a JWT, which nobody has verified; empty for a token that cannot be read
 * @throws IdentityError `bearer_refused`, `certificate_bound`, `issuer_unavailable`, `issuer_misconfigured`
 */
export async function askIssuer(
  token: string,
  said: Claims,
  ask: Introspect,
  expected: TokenExpectation,
  now: number,
  arrival: Arrival,
): Promise<TokenFacts> {
  if (token.length > OPAQUE_CHARACTERS_MAX) throw refused('length');
  refuseOtherKinds(said);
  const audience = own(said, 'aud');
  if (audience !== undefined && !listOf(audience).includes(expected.audience)) throw refused('aud');
  if (own(said, 'act') !== undefined) throw refused('act');
  const thumbprint = thumbprintOf(own(said, 'cnf'));
  const facts = await ask(token, expected, now, arrival);
  if (thumbprint === undefined || facts.keyThumbprint === thumbprint) return facts;
  if (facts.keyThumbprint !== undefined) throw refused('cnf');
  return { ...facts, keyThumbprint: thumbprint };
}
