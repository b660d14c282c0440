import { z } from 'zod';

/** What a sign-in left behind, as the session file holds it. Times are Unix seconds. */
export const SessionShape = z.strictObject({
  version: z.literal(1),
  base_url: z.string(),
  resource: z.string(),
  issuer: z.string(),
  client_id: z.string(),
  subject: z.string(),
  name: z.string().nullable(),
  scope: z.string(),
  access_token: z.string(),
  expires_at: z.int().nullable(),
  refresh_token: z.string().nullable(),
  signed_in_at: z.int(),
});

export type Session = z.infer<typeof SessionShape>;

/** What the issuer granted, from a sign-in or a refresh. */
export interface Grant {
  readonly accessToken: string;
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
  return {
    ...session,
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
