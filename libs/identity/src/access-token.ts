import { IdentityError } from './identity-error.ts';

/** How far the issuer's clock may differ from ours, in seconds. */
export const TOKEN_CLOCK_TOLERANCE_SECONDS = 2;

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

/** The requirements on an access token. */
export interface TokenExpectation {
  readonly issuer: string;
  readonly audience: string;
  /** The clients whose tokens are accepted. */
  readonly clients: readonly string[];
  /** The maximum lifetime of a token, in seconds. */
  readonly lifetimeMaxSeconds: number;
  /** Whether a token without `auth_time` is refused. */
  readonly requiresAuthTime: boolean;
}

/** The facts of a valid access token. Times in Unix seconds. */
export interface TokenFacts {
  readonly issuer: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  /**
   * `auth_time`: when the person signed in, if the token says so. Never `iat`, which a refresh renews, so that a
   * revoked session would become valid again.
   */
  readonly authenticatedAt?: number;
  /** `cnf.jkt` (RFC 9449, 6): thumbprint of the key that the token is bound to; absent from a bearer token. */
  readonly keyThumbprint?: string;
}

/** The evaluated members of a token's claims or an introspection answer. */
interface Claims {
  readonly iss?: unknown;
  readonly aud?: unknown;
  readonly sub?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
  readonly iat?: unknown;
  readonly auth_time?: unknown;
  readonly scope?: unknown;
  readonly cnf?: unknown;
  readonly act?: unknown;
  readonly client_id?: unknown;
  readonly azp?: unknown;
  readonly active?: unknown;
  readonly token_type?: unknown;
}

/**
 * Checks the protected header of a JWT: RFC 9068, 2.1 and 4. `jwk`, `jku`, `x5u` and `x5c` are ignored, here and later.
 *
 * @throws IdentityError `bearer_refused`
 */
export function checkTokenHeader(header: { alg?: unknown; typ?: unknown; crit?: unknown }): void {
  const { alg, typ, crit } = header;
  if (typeof alg !== 'string' || !TOKEN_ALGORITHMS.includes(alg)) throw refused('alg');
  if (typeof typ !== 'string' || !/^(application\/)?at\+jwt$/i.test(typ)) throw refused('typ');
  if (crit !== undefined) throw refused('crit');
}

/**
 * Checks the claims of a JWT access token: RFC 9068, 4. The signature is checked elsewhere.
 *
 * @param now Unix seconds
 * @throws IdentityError `bearer_refused`, `certificate_bound`
 */
export function checkTokenClaims(claims: Claims, expected: TokenExpectation, now: number): TokenFacts {
  if (claims.iss !== expected.issuer) throw refused('iss');
  return checkCommonClaims(claims, expected, now);
}

/**
 * Checks the answer of an introspection endpoint: RFC 7662, 2.2. Some issuers report a refresh token as active; it is
 * refused because it has no audience.
 *
 * @throws IdentityError `bearer_refused`, `certificate_bound`
 */
export function checkIntrospection(claims: Claims, expected: TokenExpectation, now: number): TokenFacts {
  if (claims.active !== true) throw refused('active');
  if (claims.iss !== undefined && claims.iss !== expected.issuer) throw refused('iss');
  const type = claims.token_type;
  const isBound = claims.cnf !== undefined;
  if (type !== undefined && !(typeof type === 'string' && isTokenType(type.toLowerCase(), isBound)))
    throw refused('token_type');
  return checkCommonClaims(claims, expected, now);
}

/** Some issuers call a bound token `Bearer`, too; one called `DPoP` must be bound. */
function isTokenType(type: string, isBound: boolean): boolean {
  return type === 'bearer' || (type === 'dpop' && isBound);
}

function checkCommonClaims(claims: Claims, expected: TokenExpectation, now: number): TokenFacts {
  const { aud, sub, exp, nbf, iat, auth_time, scope, cnf, act } = claims;
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.every(isString) || !audiences.includes(expected.audience)) throw refused('aud');
  if (!isString(sub) || sub === '' || sub.includes('\0') || !sub.isWellFormed()) throw refused('sub');
  if (!isTime(exp) || exp <= now - TOKEN_CLOCK_TOLERANCE_SECONDS) throw refused('exp');
  if (!isTimeOrAbsent(nbf) || (nbf ?? 0) > now + TOKEN_CLOCK_TOLERANCE_SECONDS) throw refused('nbf');
  if (!isTimeOrAbsent(iat)) throw refused('iat');
  if (exp - (iat ?? now) > expected.lifetimeMaxSeconds) throw refused('lifetime');
  if (!isTimeOrAbsent(auth_time)) throw refused('auth_time');
  if (auth_time === undefined && expected.requiresAuthTime) throw refused('auth_time');
  if (scope !== undefined && !isString(scope)) throw refused('scope');
  const keyThumbprint = cnf === undefined ? undefined : thumbprintOf(cnf);
  // A delegated token (RFC 8693, 4.1), with which another party acts for the user.
  if (act !== undefined) throw refused('act');
  if (!isOfClient(claims, expected.clients)) throw refused('client');
  return {
    issuer: expected.issuer,
    subject: sub,
    scopes: scope?.split(' ').filter((word) => word !== '') ?? [],
    expiresAt: exp,
    ...(auth_time === undefined ? {} : { authenticatedAt: auth_time }),
    ...(keyThumbprint === undefined ? {} : { keyThumbprint }),
  };
}

/**
 * RFC 9068, 2.2 names the client in `client_id`, some issuers in `azp`. At least one is required, and each one present
 * must be accepted.
 */
function isOfClient({ client_id, azp }: Claims, clients: readonly string[]): boolean {
  const given = [client_id, azp].filter((client) => client !== undefined);
  return given.length > 0 && given.every((client) => isString(client) && clients.includes(client));
}

/** Only the thumbprint of a key is supported (RFC 7800, 3.1; RFC 9449, 6.1): other bindings cannot be proven here. */
function thumbprintOf(cnf: unknown): string {
  if (typeof cnf !== 'object' || cnf === null) throw refused('cnf');
  if (Object.hasOwn(cnf, 'x5t#S256')) {
    throw new IdentityError('certificate_bound', 'access token bound to a client certificate');
  }
  const { jkt, ...others } = cnf as { readonly jkt?: unknown };
  if (typeof jkt !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(jkt)) throw refused('cnf');
  if (Object.keys(others).length > 0) throw refused('cnf');
  return jkt;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isTimeOrAbsent(value: unknown): value is number | undefined {
  return value === undefined || isTime(value);
}

const refused = (what: string) => new IdentityError('bearer_refused', `access token refused for its ${what}`);
