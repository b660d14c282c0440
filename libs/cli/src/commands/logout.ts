import { type Issuer, offers, openIssuer, revokeToken } from '../adapters/issuer.ts';
import { removeProofKey } from '../adapters/proof-key.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { readSession, removeSession, type SessionPlace } from '../adapters/session-store.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { isJwt, type Session } from '../core/session.ts';
import { tell } from '../text/sentences.ts';
import { type Context, sessionPlace } from './context.ts';
import { nameOf } from './whoami.ts';

/**
 * Ends the session: the issuer takes back the refresh token and an opaque access token (RFC 7009), and the
 * file goes, whatever the issuer says. Throws CliError `revocation_failed` when the file is gone and the
 * session may not be.
 */
export async function logout(context: Context): Promise<void> {
  const place = sessionPlace(context);
  await withSessionLock(place.lock, context.interrupted, async () => {
    const session = await sessionToEnd(place);
    const existed = await removeSession(place);
    await removeProofKey(place);
    if (session === 'unreadable') {
      const why = 'the session file was damaged, so there was nothing to name it by';
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
  // Whoever handed a token over still has it.
  if (session.client_id === null) return;
  try {
    const issuer = await openIssuer(session.issuer, session.client_id, interrupted);
    if (!offers(issuer, 'revocation_endpoint')) {
      context.terminal.note(`${session.issuer} takes no tokens back: what it gave out ends by itself.`);
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
  if (context.json) {
    context.terminal.printJson({ signed_out: existed, subject: session?.subject ?? null });
  } else if (session === undefined) {
    context.terminal.print('Nobody was signed in.');
  } else {
    context.terminal.print(`Signed out ${nameOf(session)}.`);
  }
}

function reason(error: CliError): string {
  return tell(error).what.replace(/\.$/, '');
}
