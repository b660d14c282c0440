import { parseJson } from './parse-json.ts';

/** A session as it is stored. Times are Unix seconds. */
export interface Session {
  readonly version: 1;
  readonly base_url: string;
  /** Value of the `resource` parameter; null if the issuer gets none. */
  readonly resource: string | null;
  readonly issuer: string;
  /** Null for a given token, which `ori` can neither renew nor revoke. */
  readonly client_id: string | null;
  readonly subject: string;
  readonly name: string | null;
  readonly scope: string;
  readonly access_token: string;
  readonly expires_at: number | null;
  readonly refresh_token: string | null;
  readonly signed_in_at: number;
  /** When the issuer gave the access token. */
  readonly renewed_at: number;
  /** RFC 7638 thumbprint of the key that the tokens are bound to. Absent if the session is not bound to a key. */
  readonly key_thumbprint?: string;
  /** Why the issuer ended the session. Absent while it is valid. */
  readonly ended?: string;
}

const isText = (value: unknown) => typeof value === 'string';
const isTextOrNull = (value: unknown) => value === null || isText(value);
const isTextOrAbsent = (value: unknown) => value === undefined || isText(value);
const isTimeOrNull = (value: unknown) => value === null || Number.isSafeInteger(value);

/** The type of each field of the file. Not zod, which takes longer to load than most commands take to run. */
const FIELDS: Readonly<Record<keyof Session, (value: unknown) => boolean>> = {
  version: (value) => value === 1,
  base_url: isText,
  resource: isTextOrNull,
  issuer: isText,
  client_id: isTextOrNull,
  subject: isText,
  name: isTextOrNull,
  scope: isText,
  access_token: isText,
  expires_at: isTimeOrNull,
  refresh_token: isTextOrNull,
  signed_in_at: Number.isSafeInteger,
  renewed_at: Number.isSafeInteger,
  ended: isTextOrAbsent,
  key_thumbprint: isTextOrAbsent,
};

/** The session in a stored text; undefined if a field is missing or has the wrong type. */
export function parseSession(text: string): Session | undefined {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const found = new Map(Object.entries(value));
  const fits = Object.entries(FIELDS).every(([name, isGood]) => isGood(found.get(name)));
  return fits && [...found.keys()].every((name) => Object.hasOwn(FIELDS, name))
    ? (value as Session)
    : undefined;
}

export interface Grant {
  readonly accessToken: string;
  /** Whether the token is bound to the proven key. */
  readonly bound: boolean;
  /** The lifetime of the access token in seconds, if the issuer stated it. */
  readonly expiresInSeconds?: number | undefined;
  readonly refreshToken?: string | undefined;
  /** Absent if the issuer granted the requested scope (RFC 6749, section 5.1). */
  readonly scope?: string | undefined;
}

/**
 * An access token this close to its expiry, in seconds, is replaced before use: it must still be valid when the server
 * checks it.
 */
const REFRESH_AHEAD_SECONDS = 30;

/** True while the access token may be sent. A token of unknown expiry is used until a server refuses it. */
export function isFresh(session: Session, nowSeconds: number): boolean {
  return session.expires_at === null || session.expires_at - REFRESH_AHEAD_SECONDS > nowSeconds;
}

/** True while the access token has not expired, even if it is about to. */
export function isAlive(session: Session, nowSeconds: number): boolean {
  return session.expires_at === null || session.expires_at > nowSeconds;
}

/** The end of the year 9999. Some issuers give a token that never expires a later one, which no date can show. */
const EXPIRY_MAX = 253_402_300_799;

/** An expiry as it is stored, in whole seconds; null if it is unknown. */
export function expiryOf(seconds: unknown): number | null {
  return typeof seconds === 'number' && seconds <= EXPIRY_MAX ? Math.floor(Math.max(0, seconds)) : null;
}

type Renewed = 'access_token' | 'expires_at' | 'renewed_at';

/** The session after a refresh: a rotated refresh token replaces the old one; without one, the old one is kept. */
export function renewSession(
  session: Omit<Session, Renewed> & Pick<Session, 'refresh_token'>,
  grant: Grant,
  nowSeconds: number,
): Session {
  return {
    ...session,
    renewed_at: nowSeconds,
    access_token: grant.accessToken,
    expires_at: expiryOf(nowSeconds + (grant.expiresInSeconds ?? Number.POSITIVE_INFINITY)),
    refresh_token: grant.refreshToken ?? session.refresh_token,
    scope: grant.scope ?? session.scope,
  };
}

/**
 * True for three base64url parts, the form of a JWT. Logout does not try to revoke a JWT, because no issuer can.
 */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
