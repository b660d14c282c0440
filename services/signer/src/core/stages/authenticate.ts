import { TOKEN_CLOCK_TOLERANCE_SECONDS, type TokenFacts } from '@ori/identity/access-token';
import type { Bearer } from '@ori/identity/bearer';
import type { ApiKeyFacts } from '@ori/store/facts';
import type { GlobalHost } from './check-host.ts';
import { SigningError } from './signing-error.ts';
import { type Made, made } from './stage.ts';

/** The facts about a credential: those of an access token, those of an API key, or none. */
export type Identity =
  | { readonly token: TokenFacts }
  | { readonly apiKey: Pick<ApiKeyFacts, 'kind' | 'disabled'> }
  | undefined;

/**
 * A caller with a valid credential. Whether it owns the credential, and what it may do, is not known yet.
 */
export interface Caller extends Made<'authenticate'> {
  /** The person's session; undefined for an API key, which names no person. */
  readonly session: TokenFacts | undefined;
  readonly scheme: Bearer['scheme'];
}

/**
 * Unknown, disabled and expired credentials and management keys (the interface's "provisioning"
 * keys) all get the same 401. Facts may come from a cache, so the expiry is checked again.
 *
 * @param now Unix seconds
 * @throws SigningError `bearer_refused`
 */
export function authenticate(_host: GlobalHost, bearer: Bearer, identity: Identity, now: number): Caller {
  if (identity === undefined) throw new SigningError('bearer_refused', `unknown ${bearer.kind}`);
  if ('apiKey' in identity) {
    const { kind, disabled } = identity.apiKey;
    if (disabled) throw new SigningError('bearer_refused', 'API key disabled');
    if (kind !== 'api') throw new SigningError('bearer_refused', `${kind} key on an intern operation`);
    return made<Caller>({ session: undefined, scheme: bearer.scheme });
  }
  if (identity.token.expiresAt <= now - TOKEN_CLOCK_TOLERANCE_SECONDS) {
    throw new SigningError('bearer_refused', 'access token expired');
  }
  return made<Caller>({ session: identity.token, scheme: bearer.scheme });
}
