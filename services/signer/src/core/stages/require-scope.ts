import { SIGNING_SCOPE } from '@ori/api/refusals';
import type { TokenFacts } from '@ori/identity/access-token';
import type { Holder } from './require-holder.ts';
import { SigningError } from './signing-error.ts';
import { type Made, made } from './stage.ts';

/** A person's session with the scope for signing. */
export interface Grant extends Made<'requireScope'> {
  readonly session: TokenFacts;
}

/**
 * Runs on every request, also for cached tokens.
 *
 * @throws SigningError `personal_identity_required` (an API key) or `insufficient_scope`
 */
export function requireScope(holder: Holder): Grant {
  const { session } = holder;
  if (session === undefined) throw new SigningError('personal_identity_required', 'caller is an API key');
  if (!session.scopes.includes(SIGNING_SCOPE)) {
    throw new SigningError('insufficient_scope', `grant without ${SIGNING_SCOPE}`);
  }
  return made<Grant>({ session });
}
