import { LRUCache } from 'lru-cache';
import type { TokenExpectation, TokenFacts } from './access-token.ts';
import { IdentityError } from './identity-error.ts';
import type { Arrival, Introspect } from './introspect.ts';
import type { Issuer } from './issuer.ts';
import type { Bearer } from './read-bearer.ts';
import { verifyJwt } from './verify-jwt.ts';

/** The maximum time for which the facts of a token are cached, whatever its own expiry. */
const REMEMBERED_MS = { jwt: 60_000, opaque: 5000 } as const;
const TOKENS_MAX = 100_000;
const REFUSED_TOKENS_MAX = 10_000;

/** The result for a bearer credential: the facts of an access token, the record of an API key, or nothing. */
export type Identity<ApiKey> = { readonly token: TokenFacts } | { readonly apiKey: ApiKey } | undefined;

export interface Identities<ApiKey> {
  /**
   * @param network where the request came from, as `networkOf` of its address
   * @throws IdentityError, and any error of looking up an API key
   */
  identify(bearer: Bearer, network: string): Promise<Identity<ApiKey>>;
}

export interface IdentitiesOptions<ApiKey> {
  readonly expected: TokenExpectation;
  readonly issuer: Issuer;
  /** Absent without a configured introspection client: then opaque tokens are refused. */
  readonly introspect?: Introspect | undefined;
  readonly apiKey: (hash: string) => ApiKeyHolder<ApiKey> | Promise<ApiKeyHolder<ApiKey>>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onLookup?: ((hit: boolean) => void) | undefined;
}

/** Looks up an API key by its hash; the result is empty if it is unknown. */
export interface ApiKeyHolder<ApiKey> {
  readonly apiKey?: ApiKey;
}

/**
 * Identifies the caller of a bearer credential. Results are cached by the SHA-256 of the whole token; decisions on
 * scope and gate are never cached. Concurrent requests with one token share one introspection.
 */
export function createIdentities<ApiKey>(options: IdentitiesOptions<ApiKey>): Identities<ApiKey> {
  const { expected, issuer, introspect, apiKey, now, onLookup } = options;
  const known = new LRUCache<string, TokenFacts>({ max: TOKENS_MAX, noDeleteOnStaleGet: true });
  const refused = new LRUCache<string, IdentityError>({ max: REFUSED_TOKENS_MAX, ttl: REMEMBERED_MS.opaque });
  const underWay = new Map<string, Promise<TokenFacts>>();

  async function find({ kind, token }: Bearer, digest: string, arrival: Arrival): Promise<TokenFacts> {
    const start = performance.now();
    const seconds = Math.floor(now() / 1000);
    try {
      const facts = await (kind === 'opaque' && introspect !== undefined
        ? introspect(token, expected, seconds, arrival)
        : verifyJwt(token, expected, issuer, seconds));
      const ttl = Math.min(
        kind === 'opaque' ? REMEMBERED_MS.opaque : REMEMBERED_MS.jwt,
        facts.expiresAt * 1000 - now(),
      );
      if (ttl > 0) known.set(digest, facts, { start, ttl });
      return facts;
    } catch (error) {
      if (kind === 'opaque' && error instanceof IdentityError && error.code !== 'issuer_unavailable') {
        known.delete(digest);
        refused.set(digest, error);
      }
      throw error;
    } finally {
      underWay.delete(digest);
    }
  }

  return {
    async identify(bearer, network) {
      const digest = bearer.digestHex();
      if (bearer.kind === 'api-key') {
        const { apiKey: facts } = await apiKey(digest);
        return facts && { apiKey: facts };
      }
      if (bearer.kind === 'opaque' && introspect === undefined) return undefined;
      const isFamiliar = known.peek(digest, { allowStale: true }) !== undefined;
      const remembered = known.get(digest);
      onLookup?.(remembered !== undefined);
      if (remembered !== undefined) return { token: remembered };
      const refusal = refused.get(digest);
      if (refusal !== undefined) throw new IdentityError(refusal.code, refusal.message);
      const asked = underWay.get(digest) ?? find(bearer, digest, { network, isFamiliar });
      underWay.set(digest, asked);
      return { token: await asked };
    },
  };
}
