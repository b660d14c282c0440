import { LRUCache } from 'lru-cache';
import { TOKEN_CLOCK_TOLERANCE_SECONDS, type TokenFacts } from './access-token.ts';
import { askIssuer } from './ask-issuer.ts';
import type { TokenExpectation } from './expectation.ts';
import { IdentityError, tokenRefused } from './identity-error.ts';
import type { Arrival, Introspect } from './introspect.ts';
import type { Issuer } from './issuer.ts';
import type { Bearer } from './read-bearer.ts';
import { claimsOf, isAccessToken, verifyJwt } from './verify-jwt.ts';

/** The maximum time for which the facts of a token are cached, whatever its own expiry. */
const REMEMBERED_MS = { jwt: 60_000, opaque: 5000 } as const;
const TOKENS_MAX = 100_000;
const REFUSED_TOKENS_MAX = 10_000;
/** How many people are remembered whose session is bound to a key. */
const BOUND_PEOPLE_MAX = 100_000;

/** The result for a bearer credential: the facts of an access token, the record of an API key, or nothing. */
export type Identity<ApiKey> = { readonly token: TokenFacts } | { readonly apiKey: ApiKey } | undefined;

/** An issuer, and the requirements on its tokens. */
interface Authority {
  readonly expected: TokenExpectation;
  readonly issuer: Pick<Issuer, 'keysFor' | 'binds' | 'aheadSeconds'>;
  /** Absent without a configured introspection client: its opaque tokens are then not accepted. */
  readonly introspect?: Introspect | undefined;
  /** The prefix of its opaque tokens, which are sent to no other issuer. */
  readonly tokenPrefix?: string | undefined;
}

export interface IdentitiesOptions<ApiKey> {
  readonly authorities: readonly Authority[];
  readonly apiKey: (hash: string) => ApiKeyHolder<ApiKey> | Promise<ApiKeyHolder<ApiKey>>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onLookup?: ((hit: boolean) => void) | undefined;
  /** Called once for each token that was found valid. @param couldBeBound whether its issuer binds, and it is not bound */
  readonly onVerified?: ((facts: TokenFacts, couldBeBound: boolean) => void) | undefined;
  /** Called once for each person whose session is not bound to a key after one that was. */
  readonly onBindingLost?: ((facts: TokenFacts) => void) | undefined;
}

/** Looks up an API key by its hash; the result is empty if it is unknown. */
export interface ApiKeyHolder<ApiKey> {
  readonly apiKey?: ApiKey;
}

/**
 * Identifies the caller of a bearer credential. Results are cached by the SHA-256 of the whole token; decisions on
 * scope and gate are never cached. Concurrent requests with one token share one introspection.
 */
export function createIdentities<ApiKey>(options: IdentitiesOptions<ApiKey>) {
  const { authorities, apiKey, now, onLookup, onVerified, onBindingLost } = options;
  // Of `max`, a cache allocates all at once: 20 ms of every start.
  const entries = (maxSize: number) => ({ maxSize, sizeCalculation: () => 1 });
  const known = new LRUCache<string, TokenFacts>({
    ...entries(TOKENS_MAX),
    noDeleteOnStaleGet: true,
    // Otherwise each call starts a timer, to read the clock once a millisecond.
    ttlResolution: 0,
  });
  const refused = new LRUCache<string, IdentityError>({ max: REFUSED_TOKENS_MAX, ttl: REMEMBERED_MS.opaque });
  // In memory, because only a sign of a downgrade depends on it, no decision: an instance that has not seen the bound
  // session says nothing, and a store that all share would cost each proof a round trip.
  const bound = new LRUCache<string, 'bound' | 'lost'>(entries(BOUND_PEOPLE_MAX));
  const underWay = new Map<string, Promise<TokenFacts>>();

  const byIssuer = new Map<unknown, Authority>(authorities.map((one) => [one.expected.issuer, one]));
  const introspecting = (token: string) =>
    authorities.find((one) => one.introspect !== undefined && token.startsWith(one.tokenPrefix ?? ''));

  /**
   * Who judges a token. A JWT of an accepted type is verified with the keys of its issuer. RFC 7662
   * knows no form, so any other token is shown to its issuer, if that is asked about tokens: the one that it names, else
   * the one whose prefix it has.
   *
   * @throws IdentityError `bearer_refused`
   */
  function judgeOf({ kind, token }: Bearer) {
    const claims = kind === 'jwt' ? claimsOf(token) : {};
    const named = claims['iss'] ?? undefined;
    const authority = named === undefined ? introspecting(token) : byIssuer.get(named);
    if (authority === undefined) throw tokenRefused('iss');
    const { expected, issuer, introspect } = authority;
    const isVerified = named !== undefined && isAccessToken(token, expected);
    return { expected, issuer, claims, ask: isVerified ? undefined : introspect };
  }

  function compareBinding(facts: TokenFacts): TokenFacts {
    const person = `${facts.issuer} ${facts.subject}`;
    if (facts.keyThumbprint !== undefined) {
      bound.set(person, 'bound');
      return facts;
    }
    const before = bound.get(person);
    if (before === undefined) return facts;
    if (before === 'bound') onBindingLost?.(facts);
    bound.set(person, 'lost');
    return { ...facts, boundBefore: true };
  }

  async function find(bearer: Bearer, digest: string, arrival: Arrival): Promise<TokenFacts> {
    const { token } = bearer;
    const start = performance.now();
    const seconds = Math.floor(now() / 1000);
    let isAsked = false;
    try {
      const { expected, issuer, claims, ask } = judgeOf(bearer);
      isAsked = ask !== undefined;
      const judged = ask
        ? askIssuer(token, claims, ask, expected, seconds, arrival)
        : verifyJwt(token, expected, issuer, seconds);
      const facts = compareBinding(byOurClock(await judged, issuer.aheadSeconds()));
      const isBound = facts.keyThumbprint !== undefined;
      onVerified?.(facts, !isBound && byIssuer.get(facts.issuer)?.issuer.binds() === true);
      const ttl = Math.min(
        isAsked ? REMEMBERED_MS.opaque : REMEMBERED_MS.jwt,
        facts.expiresAt * 1000 - now(),
      );
      if (ttl > 0) known.set(digest, facts, { start, ttl });
      return facts;
    } catch (error) {
      if (isAsked && error instanceof IdentityError && error.code !== 'issuer_unavailable') {
        known.delete(digest);
        refused.set(digest, error);
      }
      throw error;
    } finally {
      underWay.delete(digest);
    }
  }

  async function identifyKey(bearer: Bearer): Promise<Identity<ApiKey>> {
    const { apiKey: facts } = await apiKey(bearer.digestHex());
    return facts && { apiKey: facts };
  }

  return {
    /**
     * The owner of a token that was verified before is returned without a promise.
     *
     * @param network where the request came from, as `networkOf` of its address
     * Rejects with an IdentityError, and with any error of looking up an API key.
     */
    identify(bearer: Bearer, network: string): Identity<ApiKey> | Promise<Identity<ApiKey>> {
      if (bearer.kind === 'api-key') return identifyKey(bearer);
      const digest = bearer.digest();
      if (bearer.kind === 'opaque' && introspecting(bearer.token) === undefined) return undefined;
      const remembered = known.get(digest);
      onLookup?.(remembered !== undefined);
      if (remembered !== undefined) {
        // The cache counts by a clock that stands still while the machine sleeps.
        if (remembered.expiresAt + TOKEN_CLOCK_TOLERANCE_SECONDS <= now() / 1000)
          return Promise.reject(tokenRefused('exp'));
        return { token: remembered };
      }
      const refusal = refused.get(digest);
      if (refusal !== undefined) {
        const { code, message, claim } = refusal;
        return Promise.reject(new IdentityError(code, message, { ...(claim && { claim }) }));
      }
      const isFamiliar = known.peek(digest, { allowStale: true }) !== undefined;
      const asked = underWay.get(digest) ?? find(bearer, digest, { network, isFamiliar });
      underWay.set(digest, asked);
      return asked.then((token) => ({ token }));
    },
  };
}

/** An issuer whose clock is ahead dates a sign-in later than a revocation that came after it. */
function byOurClock(facts: TokenFacts, aheadSeconds: number): TokenFacts {
  const { authenticatedAt } = facts;
  if (authenticatedAt === undefined || aheadSeconds === 0) return facts;
  return { ...facts, authenticatedAt: Math.max(0, authenticatedAt - aheadSeconds) };
}

export type Identities<ApiKey> = ReturnType<typeof createIdentities<ApiKey>>;
