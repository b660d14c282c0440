import { TOKEN_TYPES, type TokenExpectation, type TokenType } from './expectation.ts';
import { tokenRefused as refused } from './identity-error.ts';
import {
  authTimeIn,
  type Claims,
  clientsIn,
  isOneOf,
  isString,
  isTime,
  isTimeOrAbsent,
  listOf,
  ours,
  own,
  requireClient,
  scopesIn,
  subjectIn,
  thumbprintOf,
} from './read-claims.ts';

/** How far the issuer's clock may differ from ours, in seconds. */
export const TOKEN_CLOCK_TOLERANCE_SECONDS = 2;

/**
 * How far a token's `iat` and `auth_time` may be ahead of our clock, in seconds. Beyond it no difference of clocks explains
 * them, and `user revoke-sessions` would not end such a session.
 */
export const TOKEN_AHEAD_MAX_SECONDS = 60;

/** The signature algorithms an access token may name: asymmetric ones only. */
export const TOKEN_ALGORITHMS: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The facts of a valid access token. Times in Unix seconds. */
export interface TokenFacts {
  readonly issuer: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /**
   * `auth_time`: when the person signed in, if the token says so. Not `iat`, unless the issuer's settings name it: a
   * refresh renews it, so that a revoked session would become valid again.
   */
  readonly authenticatedAt?: number;
  /** `cnf.jkt` (RFC 9449, 6): thumbprint of the key that the token is bound to; absent from a bearer token. */
  readonly keyThumbprint?: string;
  /** True for a bearer token of a person whose session was bound to a key before. */
  readonly boundBefore?: true;
}

/**
 * Checks the protected header of a JWT: RFC 9068, 2.1 and 4. `jwk`, `jku`, `x5u` and `x5c` are ignored, here and later.
 *
 * @throws IdentityError `bearer_refused`
 */
export function checkTokenHeader(
  header: { readonly alg?: unknown; readonly typ?: unknown; readonly crit?: unknown },
  tokenTypes: readonly TokenType[] = ['at+jwt'],
): TokenType {
  const { alg, typ, crit } = header;
  if (typeof alg !== 'string' || !TOKEN_ALGORITHMS.includes(alg)) throw refused('alg');
  const type = tokenTypeOf(typ);
  if (type === undefined || !tokenTypes.includes(type)) throw refused('typ');
  if (crit !== undefined) throw refused('crit');
  return type;
}

/** RFC 7515, 4.1.9: a media type, whose `application/` may be missing, in any case. */
export function tokenTypeOf(typ: unknown): TokenType | undefined {
  if (typ === undefined) return 'none';
  if (typeof typ !== 'string') return undefined;
  const subtype = typ.toLowerCase().replace(/^application\//, '');
  return TOKEN_TYPES.find((known) => known !== 'none' && known.toLowerCase() === subtype);
}

/**
 * Checks the claims of a JWT access token: RFC 9068, 4. The signature is checked elsewhere.
 *
 * @param type of {@link checkTokenHeader}: only `at+jwt` distinguishes an access token from others of the issuer
 * @param now Unix seconds
 * @throws IdentityError `bearer_refused`, `certificate_bound`
 */
export function checkTokenClaims(
  claims: Claims,
  expected: TokenExpectation,
  now: number,
  type: TokenType = 'at+jwt',
): TokenFacts {
  if (claims['iss'] !== expected.issuer) throw refused('iss');
  if (type !== 'at+jwt') requireAccessToken(claims, expected);
  return checkCommonClaims(claims, expected, now);
}

/**
 * Checks the answer of an introspection endpoint: RFC 7662, 2.2. Some issuers report a refresh token as active, although
 * they were asked for an access token; it is refused where `token_use`, `typ` or a missing audience tells it apart.
 *
 * @throws IdentityError `bearer_refused`, `certificate_bound`
 */
export function checkIntrospection(claims: Claims, expected: TokenExpectation, now: number): TokenFacts {
  if (claims['active'] !== true) throw refused('active');
  const [iss, type, cnf, aud] = ['iss', 'token_type', 'cnf', 'aud'].map((name) => own(claims, name));
  if (iss !== undefined && iss !== expected.issuer) throw refused('iss');
  refuseOtherUses(claims);
  if (
    type !== undefined &&
    !(isString(type) && isTokenType(type.toLowerCase(), thumbprintOf(cnf) !== undefined))
  )
    throw refused('token_type');
  const isNamed = aud !== undefined && !(Array.isArray(aud) && aud.length === 0);
  if (expected.introspectionWithoutAudience !== true || isNamed) {
    return checkCommonClaims(claims, expected, now);
  }
  requireAccessTokenClaims(claims, expected);
  return checkCommonClaims({ ...claims, aud: expected.audience }, expected, now);
}

/** Some issuers report a bound token as `Bearer`; one reported as `DPoP` must be bound. */
function isTokenType(type: string, isBound: boolean): boolean {
  return type === 'bearer' || (type === 'dpop' && isBound);
}

/** Claims that belong to ID tokens, logout tokens and security events, never to an access token. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];

/**
 * Without `at+jwt` an ID token of the same issuer looks much like an access token. It is recognized by its audience,
 * which is a client, by claims that only ID tokens have, and by the absence of a scope.
 */
function requireAccessToken(claims: Claims, expected: TokenExpectation): void {
  const audiences = listOf(claims['aud']);
  const clients: unknown[] = [...expected.clients, ...clientsIn(claims, expected)];
  if (audiences.some((audience) => clients.includes(audience))) throw refused('client among aud');
  requireAccessTokenClaims(claims, expected);
}

function requireAccessTokenClaims(claims: Claims, expected: TokenExpectation): void {
  refuseOtherKinds(claims);
  const name = expected.claims?.scope ?? 'scope';
  if (scopesIn(claims, expected).length === 0) throw refused(name);
}

/** Refuses claims that say that this is another kind of token. @throws IdentityError `bearer_refused` */
export function refuseOtherKinds(claims: Claims): void {
  const foreign = FOREIGN_CLAIMS.find((name) => Object.hasOwn(claims, name));
  if (foreign !== undefined) throw refused(foreign);
  refuseOtherUses(claims);
}

/** The kind of token, in claims of Keycloak (`typ`) and of Cognito and Hydra (`token_use`). */
function refuseOtherUses(claims: Claims): void {
  if (!isOneOf(claims['typ'], ['Bearer', 'DPoP'])) throw refused('typ');
  if (!isOneOf(claims['token_use'], ['access', 'access_token'])) throw refused('token_use');
}

function checkCommonClaims(claims: Claims, expected: TokenExpectation, now: number): TokenFacts {
  const [exp, nbf, iat] = ['exp', 'nbf', 'iat'].map((name) => own(claims, name));
  const audiences = listOf(own(claims, 'aud'));
  if (!audiences.every(isString) || !audiences.includes(expected.audience)) throw refused('aud');
  const subject = subjectIn(claims, expected);
  if (!isTime(exp) || exp <= now - TOKEN_CLOCK_TOLERANCE_SECONDS) throw refused('exp');
  if (!isTimeOrAbsent(nbf) || (nbf ?? 0) > now + TOKEN_CLOCK_TOLERANCE_SECONDS) throw refused('nbf');
  if (!isTimeOrAbsent(iat) || (iat ?? 0) > now + TOKEN_AHEAD_MAX_SECONDS) throw refused('iat');
  if (exp - (iat ?? now) > expected.lifetimeMaxSeconds) throw refused('lifetime');
  const authTime = authTimeIn(claims, expected);
  if ((authTime ?? 0) > now + TOKEN_AHEAD_MAX_SECONDS)
    throw refused(expected.claims?.authTime ?? 'auth_time');
  const scopes = scopesIn(claims, expected);
  const keyThumbprint = thumbprintOf(own(claims, 'cnf'));
  // A delegated token (RFC 8693, 4.1), with which another party acts for the user.
  if (own(claims, 'act') !== undefined) throw refused('act');
  requireClient(claims, expected);
  return {
    issuer: expected.issuer,
    subject,
    scopes: ours(scopes, expected.scopes),
    expiresAt: exp,
    ...(authTime === undefined ? {} : { authenticatedAt: authTime }),
    ...(keyThumbprint === undefined ? {} : { keyThumbprint }),
  };
}
