import { parseJson } from './parse-json.ts';

/** What a sign-in left behind, as it is stored. Times are Unix seconds. */
export interface Session {
  readonly version: 1;
  readonly base_url: string;
  readonly resource: string;
  readonly issuer: string;
  /** Null for a token that was handed over: no client of ours can renew or revoke it. */
  readonly client_id: string | null;
  readonly subject: string;
  readonly name: string | null;
  readonly scope: string;
  readonly access_token: string;
  readonly expires_at: number | null;
  readonly refresh_token: string | null;
  readonly signed_in_at: number;
  /** RFC 7638 thumbprint of the key that the tokens are bound to. Absent from a session that is bound to none. */
  readonly key_thumbprint?: string;
  /** Why the issuer ended the session. Absent while it lives. */
  readonly ended?: string;
}

const isText = (value: unknown) => typeof value === 'string';
const isTextOrNull = (value: unknown) => value === null || isText(value);
const isTextOrAbsent = (value: unknown) => value === undefined || isText(value);
const isTimeOrNull = (value: unknown) => value === null || Number.isSafeInteger(value);

/** What each field of the file must be. By hand: zod takes longer to load than all else that most commands do. */
const FIELDS: Readonly<Record<keyof Session, (value: unknown) => boolean>> = {
  version: (value) => value === 1,
  base_url: isText,
  resource: isText,
  issuer: isText,
  client_id: isTextOrNull,
  subject: isText,
  name: isTextOrNull,
  scope: isText,
  access_token: isText,
  expires_at: isTimeOrNull,
  refresh_token: isTextOrNull,
  signed_in_at: Number.isSafeInteger,
  ended: isTextOrAbsent,
  key_thumbprint: isTextOrAbsent,
};

/** The session in a stored text; undefined for anything but the fields of one, each of its kind. */
export function parseSession(text: string): Session | undefined {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const found = new Map(Object.entries(value));
  const fits = Object.entries(FIELDS).every(([name, isGood]) => isGood(found.get(name)));
  return fits && [...found.keys()].every((name) => Object.hasOwn(FIELDS, name))
    ? (value as Session)
    : undefined;
}

/** What the issuer granted, from a sign-in or a refresh. */
export interface Grant {
  readonly accessToken: string;
  /** Whether the token is bound to the key that was proven. */
  readonly bound: boolean;
  /** Seconds the access token lives, when the issuer said so. */
  readonly expiresInSeconds?: number;
  readonly refreshToken?: string;
  /** Absent when the issuer granted what was asked (RFC 6749, section 5.1). */
  readonly scope?: string;
}

/**
 * An access token this close to its end is replaced before it is used: it must live until the server judges
 * it.
 */
export const REFRESH_AHEAD_SECONDS = 30;

/** True while the access token may be sent. One whose end is unknown is used until a server refuses it. */
export function isFresh(session: Session, nowSeconds: number): boolean {
  return session.expires_at === null || session.expires_at - REFRESH_AHEAD_SECONDS > nowSeconds;
}

/** True while the access token has not ended, even if it is about to. */
export function isAlive(session: Session, nowSeconds: number): boolean {
  return session.expires_at === null || session.expires_at > nowSeconds;
}

/** The session after a refresh: a rotated refresh token replaces the old one, an absent one leaves it. */
export function renewSession(session: Session, grant: Grant, nowSeconds: number): Session {
  const { key_thumbprint, ...others } = session;
  return {
    ...others,
    ...(grant.bound && key_thumbprint !== undefined ? { key_thumbprint } : {}),
    access_token: grant.accessToken,
    expires_at: grant.expiresInSeconds === undefined ? null : nowSeconds + Math.floor(grant.expiresInSeconds),
    refresh_token: grant.refreshToken ?? session.refresh_token,
    scope: grant.scope ?? session.scope,
  };
}

/**
 * True for three base64url parts, the shape of a JWT: no issuer can take one back, so logout does not ask for
 * it.
 */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
