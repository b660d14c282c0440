import { readPrivateFile, writePrivateFile } from '../adapters/private-file.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { parseTrust, type Trust, trustOf } from '../core/trust.ts';
import type { Profile } from './profile.ts';

/** Members to replace; an undefined one is removed. */
type TrustChange = { readonly [Member in keyof Trust]?: Trust[Member] | undefined };

/**
 * What the profile trusts at a base address. Throws CliError `trust_damaged` and `session_file_exposed`: without it, a
 * server in between could have anything trusted anew.
 */
export async function readTrust(profile: Profile, baseUrl: string): Promise<Trust> {
  return trustOf(await readAll(profile), baseUrl);
}

/** Changes what the profile trusts there, while no other process does. Throws the same, and `session_file_unusable`. */
export async function changeTrust(
  profile: Profile,
  baseUrl: string,
  change: (trust: Trust) => TrustChange,
): Promise<void> {
  await withSessionLock(profile.place.lock, profile.interrupted, () => storeTrust(profile, baseUrl, change));
}

/** The same for a caller that has the session's lock. */
export async function storeTrust(
  profile: Profile,
  baseUrl: string,
  change: (trust: Trust) => TrustChange,
): Promise<void> {
  const all = await readAll(profile);
  const before = trustOf(all, baseUrl);
  const now = { ...all, [baseUrl]: { ...before, ...change(before) } };
  await writePrivateFile(profile.place.trustFile, `${JSON.stringify(now, null, 2)}\n`);
}

/** The names of interns that the profile keeps, of all base addresses. Throws as `readTrust`. */
export async function keptNames(profile: Profile): Promise<string[]> {
  return Object.values(await readAll(profile)).flatMap(({ interns }) => Object.keys(interns));
}

async function readAll(profile: Profile): Promise<Record<string, Trust>> {
  const file = profile.place.trustFile;
  const text = await readPrivateFile(file, false).catch((error) => {
    throw isCliError(error, 'session_file_damaged') ? new CliError('trust_damaged', { file }) : error;
  });
  const all = text === undefined ? {} : parseTrust(text);
  if (all === undefined) throw new CliError('trust_damaged', { file });
  return all;
}

/**
 * Keeps what the API said when it was first needed, about an intern or whom it signs for, so that a server in between cannot exchange it
 * later, and says so. Where nothing can be stored it is only said.
 */
export async function keepShown(
  profile: Profile,
  baseUrl: string,
  { interns = {}, daemons = {}, users = {} }: Partial<Trust>,
): Promise<void> {
  for (const [name, value] of Object.entries({ ...interns, ...daemons }))
    profile.terminal.note(`From now on, this profile uses ${value} for ${name}.`);
  for (const user of Object.values(users))
    profile.terminal.note(`From now on, this profile calls as ${user}.`);
  try {
    await changeTrust(profile, baseUrl, (trust) => ({
      interns: { ...trust.interns, ...interns },
      daemons: { ...trust.daemons, ...daemons },
      users: { ...trust.users, ...users },
    }));
  } catch (error) {
    if (!isCliError(error, 'session_file_unusable')) throw error;
  }
}
