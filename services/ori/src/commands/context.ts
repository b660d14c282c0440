import { once } from 'node:events';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { parseTraceparent, type Traceparent } from '@ori/http/traceparent';
import { readSmallFile } from '../adapters/private-file.ts';
import type { SessionPlace } from '../adapters/session-store.ts';
import { newTraceparent } from '../adapters/trace.ts';
import { BASE_URL_DEFAULT, parseBaseAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import type { Session } from '../core/session.ts';
import type { OutputStream, Terminal } from '../text/terminal.ts';

/** The default profile. */
export const PROFILE_DEFAULT = 'default';

/** The environment of a command. Only main.ts creates it from the real process. */
export interface HostEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal;
  readonly nowSeconds: () => number;
}

export interface GlobalOptions {
  readonly baseUrl?: string;
  readonly profile?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

export interface Context extends HostEnvironment {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly baseUrlOption: string | undefined;
  readonly profileOption: string | undefined;
}

/** Waits for the interruption. @throws CliError `interrupted` */
export async function untilInterrupted({ interrupted }: HostEnvironment): Promise<never> {
  if (!interrupted.aborted) await once(interrupted, 'abort');
  throw new CliError('interrupted', {});
}

/** An environment variable; an empty one counts as unset. */
export function variable(context: HostEnvironment, name: string): string | undefined {
  const value = context.environment[name];
  return value === '' ? undefined : value;
}

/** The base address that the user chose for this command; undefined means that of the session. */
export function chosenBaseUrl(context: Context): string | undefined {
  const chosen = context.baseUrlOption ?? variable(context, 'ORI_BASE_URL');
  return chosen === undefined ? undefined : parseBaseAddress(chosen);
}

/** The base address to sign in to: the chosen one, otherwise that of the last session, otherwise the standalone's. */
export function baseUrlToSignIn(context: Context, session: Session | undefined): string {
  return chosenBaseUrl(context) ?? session?.base_url ?? BASE_URL_DEFAULT;
}

/**
 * The profile of `--profile`, of `ORI_PROFILE`, or of `ori profiles use`; `default` without a choice. Throws CliError
 * `profile_malformed`, also for an empty file, and `session_file_unusable`: a call must not be made as somebody else.
 */
export function chosenProfile(context: Context): string {
  const { profileOption } = context;
  const profile =
    profileOption ??
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

export function sessionPlace(context: Context): SessionPlace {
  return placeOf(context, chosenProfile(context));
}

export function placeOf(context: Context, profile: string): SessionPlace {
  const folder = profile === PROFILE_DEFAULT ? configFolder(context) : join(profilesFolder(context), profile);
  return {
    profile,
    file: join(folder, 'session.json'),
    lock: join(folder, 'session.lock'),
    keyFile: join(dataFolder(context), 'keys', `${profile}.json`),
    interrupted: context.interrupted,
  };
}

/** Locked while a program that nobody watches signs in, for longer than others may wait for the session's lock. */
export function signInLock(context: Context): string {
  return join(dirname(sessionPlace(context).file), 'sign-in.lock');
}

/** Contains what the current profile trusts at each base address. */
export function trustFile(context: Context): string {
  return join(dirname(sessionPlace(context).file), 'trust.json');
}

/** Contains a folder for each profile except the default one. */
export function profilesFolder(context: HostEnvironment): string {
  return join(configFolder(context), 'profiles');
}

function configFolder(context: HostEnvironment): string {
  return xdgFolder(context, 'XDG_CONFIG_HOME', '.config');
}

function dataFolder(context: HostEnvironment): string {
  return xdgFolder(context, 'XDG_DATA_HOME', '.local/share');
}

/** Where the last trusted checkpoint of each signing log is stored. */
export function checkpointsFolder(context: HostEnvironment): string {
  return join(dataFolder(context), 'checkpoints');
}

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

/**
 * The trace that the signing request and the call belong to: the given one, else that of `TRACEPARENT`, which CI tools
 * set, else a new one. An invalid value counts as absent.
 *
 * @param given the value of `-H 'traceparent: …'`
 */
export function takeTrace(context: Context, given?: string): Traceparent {
  const trace =
    parseTraceparent(given) ?? parseTraceparent(variable(context, 'TRACEPARENT')) ?? newTraceparent();
  context.terminal.detail(`Trace ${trace.traceId}`);
  return trace;
}
