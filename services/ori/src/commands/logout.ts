import { type Issuer, offers, openIssuer, revokeToken } from '../adapters/issuer.ts';
import { removeKept } from '../adapters/kept-secret.ts';
import { removeProofKeys } from '../adapters/proof-key.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { readSession, type SessionPlace } from '../adapters/session-store.ts';
import { CliError, isCliError, messageOf } from '../core/errors.ts';
import { isJwt, type Session } from '../core/session.ts';
import type { Context } from '../session/context.ts';
import { chosenProfile, placeOf } from '../session/place.ts';
import { nameOf } from './whoami.ts';

/**
 * Ends the session, or with `all` that of every profile: removes it, then revokes the refresh token and an opaque access token at the issuer (RFC 7009). Throws
 * CliError `revocation_failed` if the session was removed but may still be valid, `keychain_unusable` if it stays.
 */
export async function logout(context: Context, { all = false } = {}): Promise<void> {
  if (!all) return logoutOne(context);
  const { findProfiles } = await import('./profiles.ts');
  let failed: unknown;
  for (const { name } of await findProfiles(context)) {
    context.terminal.note(`${name}:`);
    await logoutOne({ ...context, profileOption: name }).catch((error: unknown) => {
      context.terminal.note(error instanceof CliError ? messageOf(error).what : 'It failed.');
      failed ??= error;
    });
  }
  if (failed !== undefined) throw failed;
}

async function logoutOne(context: Context): Promise<void> {
  const place = placeOf(context, chosenProfile(context));
  await withSessionLock(place.lock, context.interrupted, async () => {
    const session = await sessionToEnd(place);
    const existed = await removeKept(place);
    await removeProofKeys(place);
    if (session === 'unreadable') {
      const why = 'the session file was damaged, so its tokens are unknown';
      throw new CliError('revocation_failed', { issuer: 'the issuer', why });
    }
    if (session !== undefined) await revoke(context, session);
    report(context, existed, session);
  });
}

async function sessionToEnd(place: SessionPlace): Promise<Session | undefined | 'unreadable'> {
  try {
    return await readSession(place, { trusting: true });
  } catch (error) {
    if (isCliError(error, 'session_file_damaged')) return 'unreadable';
    throw error;
  }
}

async function revoke(context: Context, session: Session): Promise<void> {
  const { interrupted } = context;
  // The owner of a given token still has it.
  if (session.client_id === null) return;
  try {
    const issuer = await openIssuer(session.issuer, session.client_id, interrupted);
    if (!offers(issuer, 'revocation_endpoint')) {
      context.terminal.note(`${session.issuer} does not revoke tokens: they stay valid until they expire.`);
      return;
    }
    await revokeTokens(issuer, session, interrupted);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError('revocation_failed', { issuer: session.issuer, why: reason(error) }, { cause: error });
  }
}

async function revokeTokens(issuer: Issuer, session: Session, signal: AbortSignal): Promise<void> {
  if (session.refresh_token !== null)
    await revokeToken(issuer, session.refresh_token, 'refresh_token', signal);
  if (!isJwt(session.access_token)) await revokeToken(issuer, session.access_token, 'access_token', signal);
}

function report(context: Context, existed: boolean, session: Session | undefined): void {
  context.terminal.result(
    { signed_out: existed, subject: session?.subject ?? null },
    session === undefined ? 'Nobody was signed in.' : `Signed out ${nameOf(session)}.`,
  );
}

function reason(error: CliError): string {
  // Its sentence is about signing in.
  if (isCliError(error, 'issuer_refused')) return error.facts.why;
  return messageOf(error).what.replace(/\.$/, '');
}
