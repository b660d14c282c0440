import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { readSmallFile } from '../adapters/private-file.ts';
import type { SessionPlace } from '../adapters/session-store.ts';
import { CliError } from '../core/errors.ts';
import { type Context, type HostEnvironment, variable } from './context.ts';

/** The default profile. */
export const PROFILE_DEFAULT = 'default';

/** Where the files of a profile are. */
export interface Place extends SessionPlace {
  /** What the profile trusts at each base address. */
  readonly trustFile: string;
  /** Locked while a program that nobody watches signs in, for longer than others may wait for the session's lock. */
  readonly signInLock: string;
}

/**
 * The profile of `--profile`, of `ORI_PROFILE`, or of `ori profiles use`; `default` without a choice. Throws CliError
 * `profile_malformed`, also for an empty file, and `session_file_unusable`: a call must not be made as somebody else.
 */
export function chosenProfile(context: Context): string {
  const profile =
    context.profileOption ??
    variable(context, 'ORI_PROFILE') ??
    readSmallFile(profileFile(context))?.trim() ??
    PROFILE_DEFAULT;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(profile)) throw new CliError('profile_malformed', { profile });
  // Their files have these names, and not every disk distinguishes case.
  return profile.toLowerCase();
}

/** Contains the name that `ori profiles use` was given. */
export function profileFile(context: HostEnvironment): string {
  return join(configFolder(context), 'profile');
}

/** Where a profile is, or is made. */
export function placeOf(context: HostEnvironment, profile: string): Place {
  const folder = profile === PROFILE_DEFAULT ? configFolder(context) : join(profilesFolder(context), profile);
  return {
    profile,
    file: join(folder, 'session.json'),
    lock: join(folder, 'session.lock'),
    signInLock: join(folder, 'sign-in.lock'),
    trustFile: join(folder, 'trust.json'),
    keyFile: join(dataFolder(context), 'keys', `${profile}.json`),
    interrupted: context.interrupted,
  };
}

/** Contains a folder for each profile except the default one. */
export function profilesFolder(context: HostEnvironment): string {
  return join(configFolder(context), 'profiles');
}

/** Where the last trusted checkpoint of each signing log is stored. */
export function checkpointsFolder(context: HostEnvironment): string {
  return join(dataFolder(context), 'checkpoints');
}

const configFolder = (context: HostEnvironment) => xdgFolder(context, 'XDG_CONFIG_HOME', '.config');
const dataFolder = (context: HostEnvironment) => xdgFolder(context, 'XDG_DATA_HOME', '.local/share');

/** XDG Base Directory Specification: a relative folder is ignored. */
function xdgFolder(context: HostEnvironment, name: string, fallback: string): string {
  const configured = variable(context, name);
  if (configured !== undefined && isAbsolute(configured)) return join(configured, 'ori');
  const home = variable(context, 'HOME') ?? homeOfUser(fallback);
  return join(home, fallback, 'ori');
}

function homeOfUser(folder: string): string {
  try {
    return homedir();
  } catch (cause) {
    const why = 'this user has no home folder, and HOME is not set';
    throw new CliError('session_file_unusable', { file: `~/${folder}`, why }, { cause });
  }
}
