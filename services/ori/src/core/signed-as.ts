import { claimsOf } from './given-token.ts';
import type { Session } from './session.ts';

/** Whether the issuer calls the person of a session so, in its ID token or in its access token. */
export function isNameOf(session: Session, user: string): boolean {
  return isNamed(session) && (user === session.subject || user === claimsOf(session.access_token)['sub']);
}

/**
 * What a signer may call this person instead, the first time: another claim of the access token, as at an issuer that has a subject
 * for each application; whatever it says if the token is opaque and was given, because nothing names its person.
 *
 * @returns the name that is expected: `user`, if it may be
 */
export function nameGiven(session: Session, user: string): string {
  if (!isNamed(session)) return user;
  return Object.values(claimsOf(session.access_token)).includes(user) ? user : session.subject;
}

/** Under which name the profile keeps how the signer calls the person. */
export function personOf(session: Session): string {
  return isNamed(session) ? `${session.issuer} ${session.subject}` : GIVEN;
}

/** The person of an opaque token that was given. */
export const GIVEN = 'given token';

function isNamed({ client_id, access_token }: Session): boolean {
  return client_id !== null || typeof claimsOf(access_token)['sub'] === 'string';
}
