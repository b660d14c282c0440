import { readdir } from 'node:fs/promises';
import { type Keeper, keeperOf } from '../adapters/kept-secret.ts';
import { writePrivateFile } from '../adapters/private-file.ts';
import { readSession } from '../adapters/session-store.ts';
import { CliError } from '../core/errors.ts';
import type { Session } from '../core/session.ts';
import type { Context } from '../session/context.ts';
import { chosenProfile, PROFILE_DEFAULT, placeOf, profileFile, profilesFolder } from '../session/place.ts';
import { nameOf } from './whoami.ts';

interface Profile {
  readonly name: string;
  readonly keptIn: Keeper;
  /** Undefined if it cannot be read now. */
  readonly session: Session | undefined;
}

/** Lists the profiles that have a session, the default one first, without contacting a server. */
export async function profiles(context: Context): Promise<void> {
  const inUse = chosenProfile(context);
  const found: Profile[] = [];
  for (const profile of await findProfiles(context))
    found.push({ ...profile, session: await readIfPossible(context, profile.name) });
  if (context.json) context.terminal.printJson(found.map((profile) => toRecord(profile, inUse)));
  else if (found.length === 0) context.terminal.note('No profile has a session. Sign in: ori login');
  else context.terminal.printTable(found.map((profile) => toRow(profile, inUse)));
}

/** The profiles that have a session, the default one first. Reads no session: completion must not ask to unlock a keychain. */
export async function findProfiles(context: Context): Promise<{ name: string; keptIn: Keeper }[]> {
  const found = [];
  for (const name of [PROFILE_DEFAULT, ...(await namedProfiles(context))]) {
    const keptIn = await keeperOf(placeOf(context, name));
    if (keptIn !== undefined) found.push({ name, keptIn });
  }
  return found;
}

/** Makes a profile that has a session the one of later commands. Throws CliError `not_signed_in` for any other. */
export async function useProfile(context: Context, name: string): Promise<void> {
  const profile = chosenProfile({ ...context, profileOption: name });
  if ((await keeperOf(placeOf(context, profile))) === undefined)
    throw new CliError('not_signed_in', { profile });
  await writePrivateFile(profileFile(context), `${profile}\n`);
  context.terminal.note(`Later commands use the profile ${profile}.`);
}

async function namedProfiles(context: Context): Promise<string[]> {
  try {
    const entries = await readdir(profilesFolder(context), { withFileTypes: true });
    // A file manager may leave a file of its own there.
    return entries.flatMap((entry) => (entry.isFile() ? [] : [entry.name])).toSorted();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT') return [];
    const facts = { file: profilesFolder(context), why: error.message };
    throw new CliError('session_file_unusable', facts, { cause: error });
  }
}

async function readIfPossible(context: Context, name: string): Promise<Session | undefined> {
  try {
    return await readSession(placeOf(context, name));
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

function toRecord({ name, keptIn, session }: Profile, inUse: string): Record<string, unknown> {
  return {
    name,
    in_use: name === inUse,
    kept_in: keptIn,
    subject: session?.subject ?? null,
    base_url: session?.base_url ?? null,
    state: stateOf(session),
  };
}

function toRow({ name, keptIn, session }: Profile, inUse: string) {
  return {
    '': name === inUse ? '*' : ' ',
    name,
    who: session === undefined ? null : nameOf(session),
    api: session?.base_url,
    'kept in': keptIn,
    state: stateOf(session),
  };
}

function stateOf(session: Session | undefined): 'signed in' | 'ended' | 'unreadable' {
  if (session === undefined) return 'unreadable';
  return session.ended === undefined ? 'signed in' : 'ended';
}
