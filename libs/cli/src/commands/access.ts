import type { Credential } from '../adapters/api.ts';
import { type Issuer, openIssuer, refreshGrant } from '../adapters/issuer.ts';
import { isPassing } from '../adapters/issuer-failure.ts';
import { type PrivateJwk, proofKeyOf, readGivenKey, readProofKey } from '../adapters/proof-key.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { readSession, writeSession } from '../adapters/session-store.ts';
import { TokenRefused } from '../adapters/token-refused.ts';
import { isClockWrong } from '../core/clock.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { sessionOfToken } from '../core/given-token.ts';
import { isAlive, isFresh, renewSession, type Session } from '../core/session.ts';
import { tellClock } from '../text/clock.ts';
import { tellFallback } from '../text/session-sentences.ts';
import { baseUrlToSignIn, type Context, chosenBaseUrl, sessionPlace, variable } from './context.ts';

/**
 * The session in use: that of `ORI_TOKEN`, else the stored one, for the base address in use. Throws CliError
 * `not_signed_in`, `session_elsewhere` (a token for one address never goes to another), `session_ended`, and
 * what reading it throws.
 */
export async function requireSession(context: Context): Promise<Session> {
  const token = variable(context, 'ORI_TOKEN');
  if (token !== undefined) {
    return sessionOfToken(token, baseUrlToSignIn(context, undefined), context.nowSeconds());
  }
  const session = await readSession(sessionPlace(context));
  if (session === undefined) throw new CliError('not_signed_in', {});
  const baseUrl = chosenBaseUrl(context);
  if (baseUrl !== undefined && baseUrl !== session.base_url) {
    throw new CliError('session_elsewhere', { sessionBaseUrl: session.base_url, baseUrl });
  }
  if (session.ended !== undefined) throw new CliError('session_ended', { why: session.ended });
  return session;
}

/**
 * Does `work` with an access token that has not ended. When a server refuses the token all the same, it is
 * refreshed and `work` done once more. Throws CliError `session_ended` when there is no other token to be
 * had.
 */
export async function withAccessToken<T>(
  context: Context,
  work: (session: Session, credential: Credential) => Promise<T>,
): Promise<T> {
  const session = await freshSession(context);
  try {
    return await work(session, await credentialOf(context, session));
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
  }
  if (session.client_id === null) throw new CliError('token_refused', { baseUrl: session.base_url });
  context.terminal.detail('The access token was refused; refreshing it.');
  try {
    const renewed = await freshSession(context, session.access_token);
    return await work(renewed, await credentialOf(context, renewed));
  } catch (error) {
    if (error instanceof TokenRefused) throw new CliError('session_ended', { why: 'its token is refused' });
    throw error;
  }
}

/**
 * What a session is used with: its token, and the key it is bound to, which is `ORI_DPOP_KEY` for a token that was
 * handed over. Throws CliError `session_key_missing`, and what reading the key throws.
 */
export async function credentialOf(context: Context, session: Session): Promise<Credential> {
  const jwk = await keyOf(context, session);
  return { accessToken: session.access_token, ...(jwk && { key: proofKeyOf(jwk) }) };
}

async function keyOf(context: Context, session: Session): Promise<PrivateJwk | undefined> {
  if (session.client_id === null) {
    const file = variable(context, 'ORI_DPOP_KEY');
    return file === undefined ? undefined : readGivenKey(file);
  }
  if (session.key_thumbprint === undefined) return undefined;
  const jwk = await readProofKey(sessionPlace(context));
  if (jwk === undefined || proofKeyOf(jwk).thumbprint !== session.key_thumbprint)
    throw new CliError('session_key_missing', {});
  return jwk;
}

/**
 * The session with an access token good for a while longer and other than `refused`, refreshed under the lock
 * when it must be: whoever waited for the lock finds the token that the one in front got.
 */
export async function freshSession(context: Context, refused?: string): Promise<Session> {
  const good = (session: Session) =>
    isFresh(session, context.nowSeconds()) && session.access_token !== refused;
  const session = await requireSession(context);
  // A token that was handed over cannot be renewed: the server says when it has ended.
  if (good(session) || session.client_id === null) return session;
  return withSessionLock(sessionPlace(context).lock, context.interrupted, async () => {
    const current = await requireSession(context);
    return good(current) ? current : refresh(context, current, refused);
  });
}

async function refresh(context: Context, session: Session, refused: string | undefined): Promise<Session> {
  const usable = isAlive(session, context.nowSeconds()) && session.access_token !== refused;
  if (session.refresh_token === null || session.client_id === null) {
    if (usable) return session;
    throw new CliError('session_ended', { why: 'the issuer gave nothing to renew it with' });
  }
  // Ctrl-C does not reach in here: a rotated refresh token that was not stored would be lost. Time-outs bound
  // it.
  const { signal } = new AbortController();
  const store = (changed: Session) => storeRenewed(context, changed, signal);
  let issuer: Issuer | undefined;
  try {
    context.terminal.detail(`Refreshing the access token at ${session.issuer}`);
    issuer = await openIssuer(session.issuer, session.client_id, signal);
    noteClock(context, issuer);
    const { refresh_token: refreshToken, resource, subject } = session;
    const key = await keyOf(context, session);
    const grant = await refreshGrant(issuer, { refreshToken, resource, subject, key }, signal);
    const renewed = renewSession(session, grant, context.nowSeconds());
    await store(renewed);
    return renewed;
  } catch (error) {
    // What was refused may hold the successor of a refresh token that is spent.
    const kept = { ...session, refresh_token: issuer?.answers.lastRefreshToken() ?? session.refresh_token };
    if (isCliError(error, 'session_ended')) await store({ ...kept, ended: error.facts.why ?? 'refused' });
    else if (kept.refresh_token !== session.refresh_token) await store(kept);
    if (usable && isPassing(error)) return kept;
    throw error;
  }
}

async function storeRenewed(context: Context, session: Session, signal: AbortSignal): Promise<void> {
  const { why } = await writeSession({ ...sessionPlace(context), interrupted: signal }, session);
  if (why !== undefined) context.terminal.note(tellFallback(why));
}

/** Says so when this computer's clock is wrong by the issuer's. */
export function noteClock({ terminal }: Context, { address, answers }: Issuer): void {
  const aheadSeconds = answers.clockAheadSeconds();
  if (!isClockWrong(aheadSeconds)) return;
  terminal.note(
    `This computer's clock is ${tellClock(aheadSeconds)}, compared with ${address}: set it right.`,
  );
}
