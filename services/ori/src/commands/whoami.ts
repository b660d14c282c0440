import { keeperOf } from '../adapters/kept-secret.ts';
import { grantsScope, SIGNING_SCOPE } from '../core/scopes.ts';
import type { Session } from '../core/session.ts';
import { freshSession } from '../session/access.ts';
import { variable } from '../session/context.ts';
import type { Profile } from '../session/profile.ts';

/**
 * Prints who is signed in, where and with which scopes. An expired token is renewed first, so that the answer is
 * current.
 */
export async function whoami(profile: Profile): Promise<void> {
  const session = await freshSession(profile);
  const keptIn = profile.token === undefined ? await keeperOf(profile.place) : 'ORI_TOKEN';
  const { profile: name } = profile.place;
  const place = `in ${keptIn === 'file' ? 'a file' : 'the keychain'}, profile ${name}`;
  profile.terminal.result(
    { ...describeSession(session), bound: isBound(profile, session), profile: name, kept_in: keptIn },
    nameOf(session),
    `  API     ${session.base_url}`,
    `  issuer  ${session.issuer || '-'}`,
    `  scope   ${session.scope || '-'}${mayNotSign(session) ? ' (cannot sign)' : ''}`,
    `  token   ${tokenLife(session, profile.nowSeconds())}`,
    `  bound   ${tellBinding(profile, session)}`,
    `  stored  ${keptIn === 'ORI_TOKEN' ? 'no: given in ORI_TOKEN' : place}`,
  );
}

/** Whether the session can only be used with a key. */
function isBound(profile: Profile, session: Session): boolean {
  return session.key_thumbprint !== undefined || hasGivenKey(profile, session);
}

function hasGivenKey(profile: Profile, session: Session): boolean {
  return session.client_id === null && variable(profile, 'ORI_DPOP_KEY') !== undefined;
}

function tellBinding(profile: Profile, session: Session): string {
  if (!isBound(profile, session)) return 'no: anyone who gets the token can use it';
  return session.client_id === null && !hasGivenKey(profile, session)
    ? 'to a key (DPoP), and ORI_DPOP_KEY does not name its file'
    : 'to a key on this computer, which signs each request (DPoP)';
}

/** The subject, and the name from the ID token if there is one. */
export function nameOf(session: Session): string {
  return session.name === null || session.name === session.subject
    ? session.subject
    : `${session.subject} (${session.name})`;
}

/** The `--json` form of a session, which contains no token. */
export function describeSession(session: Session): Record<string, unknown> {
  return {
    subject: session.subject,
    name: session.name,
    base_url: session.base_url,
    issuer: session.issuer,
    client_id: session.client_id,
    scope: session.scope.split(' ').filter((scope) => scope !== ''),
    can_sign: grantsScope(session.scope, SIGNING_SCOPE) ?? null,
    renewable: session.refresh_token !== null,
    expires_at: session.expires_at === null ? null : new Date(session.expires_at * 1000).toISOString(),
    signed_in_at: new Date(session.signed_in_at * 1000).toISOString(),
  };
}

/** True if the grant is known and lacks the scope for signing. */
export function mayNotSign(session: Session): boolean {
  return grantsScope(session.scope, SIGNING_SCOPE) === false;
}

function tokenLife(session: Session, nowSeconds: number): string {
  const after =
    session.client_id === null
      ? 'then provide another'
      : session.refresh_token === null
        ? 'then sign in again'
        : 'then renewed automatically';
  if (session.expires_at === null) return `until a server refuses it, ${after}`;
  const seconds = Math.max(0, session.expires_at - nowSeconds);
  return `valid for ${seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`}, ${after}`;
}
