import { readSession } from '../adapters/session-store.ts';
import { BASE_URL_DEFAULT, parseBaseAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import { sessionOfToken } from '../core/given-token.ts';
import type { Session } from '../core/session.ts';
import { type Context, variable } from './context.ts';
import { chosenProfile, type Place, PROFILE_DEFAULT, placeOf } from './place.ts';

/** A command with its profile: who calls, where, and from which files, found once. */
export interface Profile extends Context {
  readonly place: Place;
  /** The base address that the user chose for this command; undefined means that of the session. */
  readonly baseUrl: string | undefined;
  /** `ORI_TOKEN`, which is used instead of the session. */
  readonly token: string | undefined;
}

/** Throws CliError `profile_malformed`, `session_file_unusable` and `address_not_usable`. Reads no session yet. */
export function openProfile(context: Context): Profile {
  const baseUrl = context.baseUrlOption ?? variable(context, 'ORI_BASE_URL');
  return {
    ...context,
    place: placeOf(context, chosenProfile(context)),
    baseUrl: baseUrl === undefined ? undefined : parseBaseAddress(baseUrl),
    token: variable(context, 'ORI_TOKEN'),
  };
}

/** The same, for a part of the command that ends earlier. */
export function interruptedBy(profile: Profile, signal: AbortSignal): Profile {
  const interrupted = AbortSignal.any([profile.interrupted, signal]);
  return { ...profile, interrupted, place: { ...profile.place, interrupted } };
}

/** The base address to sign in to: the chosen one, otherwise that of the last session, otherwise the standalone's. */
export function baseUrlToSignIn({ baseUrl }: Profile, session: Session | undefined): string {
  return baseUrl ?? session?.base_url ?? BASE_URL_DEFAULT;
}

/**
 * The current session: that of `ORI_TOKEN`, otherwise the stored one, for the current base address. Throws CliError
 * `not_signed_in`, `session_elsewhere` (a token for one address is never sent to another), `session_ended`, and the
 * errors of reading it.
 */
export async function requireSession(profile: Profile): Promise<Session> {
  const { token, place, baseUrl } = profile;
  if (token !== undefined)
    return sessionOfToken(token, baseUrlToSignIn(profile, undefined), profile.nowSeconds());
  const session = await readSession(place);
  if (session === undefined) {
    const { profile: name } = place;
    throw new CliError('not_signed_in', name === PROFILE_DEFAULT ? {} : { profile: name });
  }
  if (baseUrl !== undefined && baseUrl !== session.base_url) {
    throw new CliError('session_elsewhere', { sessionBaseUrl: session.base_url, baseUrl });
  }
  if (session.ended !== undefined) throw new CliError('session_ended', { why: session.ended });
  return session;
}
