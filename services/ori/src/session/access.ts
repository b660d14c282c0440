import { type Credential, TokenRefused } from '../adapters/api.ts';
import { type Issuer, openIssuer, refreshGrant } from '../adapters/issuer.ts';
import { isPassing } from '../adapters/issuer-failure.ts';
import { type PrivateJwk, proofKeyOf, readGivenKey, readProofKey } from '../adapters/proof-key.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { writeSession } from '../adapters/session-store.ts';
import { toTheEnd } from '../adapters/to-the-end.ts';
import { isClockWrong, tellClock } from '../core/clock.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { tellFallback, tellMovedSignIn } from '../core/failures/session.ts';
import { claimsOf } from '../core/given-token.ts';
import type { ApiAnswer } from '../core/refusal.ts';
import { isAlive, isFresh, renewSession, type Session } from '../core/session.ts';
import { foreignAudience } from '../core/trust.ts';
import { variable } from './context.ts';
import { type Profile, requireSession } from './profile.ts';

/** A token of this age, in seconds, was not refused because it is old. */
const RECENT_SECONDS = 30;

/**
 * Runs `work` with an access token that has not expired. If the API refuses the token anyway, renews it and runs `work`
 * once more, unless it was just renewed or the refusal names another cause. Throws the CliError of the refusal, or
 * `session_ended` if the token is invalid and cannot be renewed.
 */
export async function withAccessToken<T>(
  profile: Profile,
  work: (session: Session, credential: Credential) => Promise<T>,
): Promise<T> {
  const session = await freshSession(profile);
  try {
    return await work(session, await credentialOf(profile, session));
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    await requireRenewable(session, profile.nowSeconds(), error.answer);
  }
  profile.terminal.detail('The access token was refused; refreshing it.');
  try {
    const renewed = await freshSession(profile, session.access_token);
    return await work(renewed, await credentialOf(profile, renewed));
  } catch (error) {
    if (error instanceof TokenRefused) throw (await import('../core/refusal.ts')).refusalOfApi(error.answer);
    throw error;
  }
}

/** Throws the failure for a 401 that a new token would not change. */
async function requireRenewable(session: Session, nowSeconds: number, answer: ApiAnswer): Promise<void> {
  const { errorOfChallenge, refusalOfApi, refusalOfGivenToken, readRefusal } = await import(
    '../core/refusal.ts'
  );
  if (session.client_id === null) throw refusalOfGivenToken(session.base_url, answer);
  const named = errorOfChallenge(answer);
  const isRecent = Math.abs(nowSeconds - session.renewed_at) < RECENT_SECONDS;
  if (isRecent || (named !== undefined && named !== 'invalid_token')) throw refusalOfApi(answer);
  if (session.refresh_token !== null) return;
  throw named === undefined
    ? refusalOfApi(answer)
    : new CliError('session_ended', { why: readRefusal(answer).message });
}

/**
 * The token of a session and the key that it is bound to, which is `ORI_DPOP_KEY` for a given token. Throws CliError
 * `session_key_missing`, and the errors of reading the key.
 */
export async function credentialOf(profile: Profile, session: Session): Promise<Credential> {
  const jwk = await keyOf(profile, session);
  return { accessToken: session.access_token, ...(jwk && { key: proofKeyOf(jwk) }) };
}

async function keyOf(profile: Profile, session: Session): Promise<PrivateJwk | undefined> {
  if (session.client_id === null) {
    return givenKey(session.key_thumbprint, variable(profile, 'ORI_DPOP_KEY'));
  }
  if (session.key_thumbprint === undefined) return undefined;
  const jwk = await readProofKey(profile.place, session.key_thumbprint);
  if (jwk === undefined) throw new CliError('session_key_missing', {});
  return jwk;
}

/** The key in `file`, for a token that is bound to `thumbprint`, as far as it says. */
async function givenKey(
  thumbprint: string | undefined,
  file: string | undefined,
): Promise<PrivateJwk | undefined> {
  if (file === undefined) {
    if (thumbprint === undefined) return undefined;
    throw new CliError('token_key_unusable', { why: 'is not set' });
  }
  const jwk = await readGivenKey(file);
  if (thumbprint !== undefined && proofKeyOf(jwk).thumbprint !== thumbprint)
    throw new CliError('token_key_unusable', { file, why: 'is another one' });
  return jwk;
}

/**
 * The session with an access token that is valid for a while and is not `refused`. Refreshes under the lock if
 * necessary: a process that waited for the lock uses the token of the one before it.
 */
export async function freshSession(profile: Profile, refused?: string): Promise<Session> {
  const good = (session: Session) =>
    isFresh(session, profile.nowSeconds()) && session.access_token !== refused;
  const session = await requireSession(profile);
  // A given token cannot be renewed; the server reports its expiry.
  if (good(session) || session.client_id === null) return session;
  return withSessionLock(profile.place.lock, profile.interrupted, async () => {
    const current = await requireSession(profile);
    return good(current) ? current : toTheEnd(() => refresh(profile, current, refused));
  });
}

async function refresh(profile: Profile, session: Session, refused: string | undefined): Promise<Session> {
  const usable = isAlive(session, profile.nowSeconds()) && session.access_token !== refused;
  if (session.refresh_token === null || session.client_id === null) {
    if (usable) return session;
    throw new CliError('session_ended', { why: 'the issuer gave no refresh token' });
  }
  // Not interrupted by Ctrl-C, because a rotated refresh token that is not stored would be lost. Timeouts bound it.
  const { signal } = new AbortController();
  const store = (changed: Session) => storeRenewed(profile, changed, signal);
  let issuer: Issuer | undefined;
  try {
    profile.terminal.detail(`Refreshing the access token at ${session.issuer}`);
    issuer = await openIssuer(session.issuer, session.client_id, signal);
    noteClock(profile, issuer);
    const { refresh_token: refreshToken, resource, subject } = session;
    const key = await keyOf(profile, session);
    // Shows that its successor can be stored before the refresh token is spent.
    await store(session);
    const grant = await refreshGrant(issuer, { refreshToken, resource, subject, key }, signal);
    const renewed = renewSession(session, grant, profile.nowSeconds());
    const before = foreignAudience(session.access_token, [session.base_url]);
    const others = foreignAudience(renewed.access_token, [session.base_url, ...before]);
    if (others.length > 0)
      throw new CliError('session_ended', { why: `the issuer's token is for ${others.join(', ')}` });
    await store(renewed);
    noteSignInTime(profile, session, renewed);
    return renewed;
  } catch (error) {
    // A refused answer may contain the successor of the refresh token that was just spent.
    const kept = { ...session, refresh_token: issuer?.answers.lastRefreshToken() ?? session.refresh_token };
    if (isCliError(error, 'session_ended')) await store({ ...kept, ended: error.facts.why ?? 'refused' });
    else if (kept.refresh_token !== session.refresh_token) await store(kept);
    if (usable && isPassing(error)) return kept;
    throw error;
  }
}

async function storeRenewed(profile: Profile, session: Session, signal: AbortSignal): Promise<void> {
  const { why } = await writeSession({ ...profile.place, interrupted: signal }, session);
  if (why !== undefined) profile.terminal.note(tellFallback(why));
}

/** Once: what the first renewal shows is so at each. */
function noteSignInTime({ terminal }: Profile, session: Session, renewed: Session): void {
  if (session.renewed_at !== session.signed_in_at) return;
  const [before, after] = [session, renewed].map((one) => claimsOf(one.access_token)['auth_time']);
  const told = tellMovedSignIn(before, after);
  if (told !== undefined) terminal.note(told);
}

export function noteClock({ terminal }: Profile, { address, answers }: Issuer): void {
  const aheadSeconds = answers.clockAheadSeconds();
  if (!isClockWrong(aheadSeconds)) return;
  terminal.note(
    `This computer's clock is ${tellClock(aheadSeconds)}, compared with ${address}: set it right.`,
  );
}
