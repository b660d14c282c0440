import { openIssuer, refreshGrant } from '../adapters/issuer.ts';
import { isPassing } from '../adapters/issuer-failure.ts';
import { readSession, writeSession } from '../adapters/session-file.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { TokenRefused } from '../adapters/token-refused.ts';
import { CliError } from '../core/errors.ts';
import { isAlive, isFresh, renewSession, type Session } from '../core/session.ts';
import { type Context, chosenBaseUrl, sessionPlace } from './context.ts';

/**
 * The session as stored, for the base address in use. Throws CliError `not_signed_in`, `session_elsewhere` (a
 * token for one address never goes to another), `session_file_exposed`, `session_file_damaged`.
 */
export async function requireSession(context: Context): Promise<Session> {
  const session = await readSession(sessionPlace(context).file);
  if (session === undefined) throw new CliError('not_signed_in', {});
  const baseUrl = chosenBaseUrl(context);
  if (baseUrl !== undefined && baseUrl !== session.base_url) {
    throw new CliError('session_elsewhere', { sessionBaseUrl: session.base_url, baseUrl });
  }
  return session;
}

/**
 * Does `work` with an access token that has not ended. When a server refuses the token all the same, it is
 * refreshed and `work` done once more. Throws CliError `session_ended` when there is no other token to be
 * had.
 */
export async function withAccessToken<T>(
  context: Context,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await freshSession(context);
  try {
    return await work(session);
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
  }
  context.terminal.detail('The access token was refused; refreshing it.');
  try {
    return await work(await freshSession(context, session.access_token));
  } catch (error) {
    if (error instanceof TokenRefused) throw new CliError('session_ended', { why: 'its token is refused' });
    throw error;
  }
}

/**
 * The session with an access token good for a while longer and other than `refused`, refreshed under the lock
 * when it must be: whoever waited for the lock finds the token that the one in front got.
 */
export async function freshSession(context: Context, refused?: string): Promise<Session> {
  const good = (session: Session) =>
    isFresh(session, context.nowSeconds()) && session.access_token !== refused;
  const session = await requireSession(context);
  if (good(session)) return session;
  return withSessionLock(sessionPlace(context).lock, context.interrupted, async () => {
    const current = await requireSession(context);
    return good(current) ? current : refresh(context, current, refused);
  });
}

async function refresh(context: Context, session: Session, refused: string | undefined): Promise<Session> {
  const usable = isAlive(session, context.nowSeconds()) && session.access_token !== refused;
  if (session.refresh_token === null) {
    if (usable) return session;
    throw new CliError('session_ended', { why: 'the issuer gave nothing to renew it with' });
  }
  // Ctrl-C does not reach in here: a rotated refresh token that was not stored would be lost. Time-outs bound
  // it.
  const { signal } = new AbortController();
  try {
    context.terminal.detail(`Refreshing the access token at ${session.issuer}`);
    const issuer = await openIssuer(session.issuer, session.client_id, signal);
    const { refresh_token: refreshToken, resource, subject } = session;
    const grant = await refreshGrant(issuer, { refreshToken, resource, subject }, signal);
    const renewed = renewSession(session, grant, context.nowSeconds());
    await writeSession(sessionPlace(context).file, renewed);
    return renewed;
  } catch (error) {
    if (usable && isPassing(error)) return session;
    throw error;
  }
}
