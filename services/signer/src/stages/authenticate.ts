import { TOKEN_CLOCK_TOLERANCE_SECONDS, type TokenFacts } from '@ori/identity/access-token';
import type { Bearer } from '@ori/identity/bearer';
import { SigningError } from './signing-error.ts';

/** What the store knows about an API key. */
export interface ApiKeyFacts {
  readonly kind: 'api' | 'management';
  readonly disabled: boolean;
}

/** What was found out about a bearer: an access token's facts, an API key's, or nothing. */
export type Identity = { readonly token: TokenFacts } | { readonly apiKey: ApiKeyFacts } | undefined;

/** A caller whose credential is good. Says nothing yet about what it may do, nor whether it is the caller's own. */
class Caller {
  protected readonly stage = 'authenticate';
  /** The person's session; undefined where the caller is an API key, which names no person. */
  readonly session: TokenFacts | undefined;
  readonly scheme: Bearer['scheme'];

  constructor(session: TokenFacts | undefined, scheme: Bearer['scheme']) {
    this.session = session;
    this.scheme = scheme;
  }
}

export type { Caller };

/**
 * Second stage. Judges what was found out about the bearer: unknown, disabled, expired and management keys (the
 * interface's "provisioning" keys) are all the same 401. Facts may come from a cache, so the expiry is judged again.
 *
 * @param now Unix seconds
 * @throws SigningError `bearer_refused`
 */
export function authenticate(bearer: Bearer, identity: Identity, now: number): Caller {
  if (identity === undefined) throw new SigningError('bearer_refused', `unknown ${bearer.kind}`);
  if ('apiKey' in identity) {
    const { kind, disabled } = identity.apiKey;
    if (disabled) throw new SigningError('bearer_refused', 'API key disabled');
    if (kind !== 'api') throw new SigningError('bearer_refused', `${kind} key on an intern operation`);
    return new Caller(undefined, bearer.scheme);
  }
  if (identity.token.expiresAt <= now - TOKEN_CLOCK_TOLERANCE_SECONDS) {
    throw new SigningError('bearer_refused', 'access token expired');
  }
  return new Caller(identity.token, bearer.scheme);
}
