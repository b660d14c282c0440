import { unwatchFile, watchFile } from 'node:fs';
import { printableJson } from '@ori/faces/printable';
import { withSessionLock } from '../adapters/session-lock.ts';
import { isCliError } from '../core/errors.ts';
import { type Context, variable } from '../session/context.ts';
import { interruptedBy, openProfile, type Profile, requireSession } from '../session/profile.ts';

/** How often a bridge that waits for its browser window looks for a sign-in of another program, in milliseconds. */
const LOOK_MS = 500;

/**
 * Runs `work`; if nobody is signed in, signs in with a browser first, and runs it again. Of several processes, one signs
 * in, until somebody is signed in, by whatever program. Nobody may see what it prints, so the terms must be those of an
 * earlier `ori login`.
 */
export async function signedIn<T>(context: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isSignedOut(error) || variable(context, 'ORI_TOKEN') !== undefined) throw error;
  }
  const profile = openProfile(context);
  const { login, WAIT_SECONDS_DEFAULT } = await import('../commands/login.ts');
  // stdout carries nothing but JSON-RPC.
  const { note } = context.terminal;
  const result = (value: unknown, ...lines: string[]) =>
    note(...(context.json ? [printableJson(value)] : lines));
  const silent = { ...profile, terminal: { ...context.terminal, result } };
  const signIn = () =>
    untilSignedIn(profile, (elsewhere) =>
      login(interruptedBy(silent, elsewhere), { browser: true, asBefore: true }),
    );
  await withSessionLock(profile.place.signInLock, context.interrupted, signIn, 2 * WAIT_SECONDS_DEFAULT);
  return work();
}

/** Runs `signIn`, and interrupts it when somebody has signed in elsewhere. */
async function untilSignedIn(
  profile: Profile,
  signIn: (elsewhere: AbortSignal) => Promise<void>,
): Promise<void> {
  if (await isSignedIn(profile)) return;
  const elsewhere = new AbortController();
  const look = () =>
    void isSignedIn(profile).then(
      (is) => is && elsewhere.abort(),
      () => undefined,
    );
  watchFile(profile.place.file, { interval: LOOK_MS, persistent: false }, look);
  try {
    await signIn(elsewhere.signal);
  } catch (error) {
    if (!elsewhere.signal.aborted || profile.interrupted.aborted) throw error;
  } finally {
    unwatchFile(profile.place.file, look);
  }
}

const isSignedOut = (error: unknown) =>
  isCliError(error, 'not_signed_in') || isCliError(error, 'session_ended');

async function isSignedIn(profile: Profile): Promise<boolean> {
  try {
    await requireSession(profile);
    return true;
  } catch (error) {
    if (isSignedOut(error)) return false;
    throw error;
  }
}
