import { CliError, isCliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { parseSession, type Session } from '../core/session.ts';
import { readSecret, removeSecret, writeSecret } from './keychain.ts';
import { readPrivateFile, removePrivateFile, writePrivateFile } from './private-file.ts';

export interface SessionPlace {
  readonly profile: string;
  /**
   * The file with the session, or with a note that the keychain has it. Its path is the account name in the keychain.
   */
  readonly file: string;
  readonly lock: string;
  /**
   * The file with the key that the session is bound to, if no keychain has it; in a folder separate from the tokens.
   */
  readonly keyFile: string;
  /** Stops waiting for a keychain that asks the user to unlock it. */
  readonly interrupted: AbortSignal;
}

export type Keeper = 'keychain' | 'file';

/** How a session was stored. `why` says why the keychain could not be used, if a file was used instead. */
export interface Stored {
  readonly keptIn: Keeper;
  readonly why?: string;
}

/** The text of the file while the keychain has the session. It contains no secret. */
const POINTER = `${JSON.stringify({ version: 1, kept_in: 'keychain' })}\n`;

/**
 * The stored session, or undefined if there is none. Throws `session_file_exposed`, `session_file_damaged`,
 * `keychain_unusable`. `trusting` also reads a file that others could have read, for a session that is about to be
 * ended.
 */
export async function readSession(
  place: SessionPlace,
  { trusting = false }: { trusting?: boolean } = {},
): Promise<Session | undefined> {
  const inFile = await readPrivateFile(place.file, trusting);
  const text = isPointer(inFile) ? await readSecret(place.file, place.interrupted) : inFile;
  if (text === undefined) return undefined;
  const session = parseSession(text);
  if (session === undefined) throw new CliError('session_file_damaged', { file: place.file });
  return session;
}

/**
 * Where the profile's session is stored; undefined if there is none. Reads no secret and does not ask for unlocking.
 */
export async function keeperOf(place: SessionPlace): Promise<Keeper | undefined> {
  const text = await readPrivateFile(place.file, true);
  if (text === undefined) return undefined;
  return isPointer(text) ? 'keychain' : 'file';
}

/**
 * Stores the session atomically. Without `keeper` it stays where it is. If the keychain fails, the session goes into
 * the file unless `only` forbids that, because a rotated refresh token must not be lost. Throws
 * `session_file_unusable`, with `only` also `keychain_unusable`.
 */
export async function writeSession(
  place: SessionPlace,
  session: Session,
  { keeper, only = false }: { keeper?: Keeper; only?: boolean } = {},
): Promise<Stored> {
  const before = await keeperOf(place).catch(() => undefined);
  const wanted = keeper ?? before ?? 'file';
  const text = `${JSON.stringify(session, null, 2)}\n`;
  if (wanted === 'keychain') {
    try {
      await writeSecret(place.file, text, place.interrupted);
      if (before !== 'keychain') await writePrivateFile(place.file, POINTER);
      return { keptIn: 'keychain' };
    } catch (error) {
      if (only || !isCliError(error, 'keychain_unusable')) throw error;
      await writePrivateFile(place.file, text);
      return { keptIn: 'file', why: error.facts.why };
    }
  }
  await writePrivateFile(place.file, text);
  if (before === 'keychain') await removeSecret(place.file, place.interrupted).catch(() => {});
  return { keptIn: 'file' };
}

/** Removes the session. Returns whether there was one. */
export async function removeSession(place: SessionPlace): Promise<boolean> {
  if ((await keeperOf(place).catch(() => undefined)) === 'keychain')
    await removeSecret(place.file, place.interrupted);
  return removePrivateFile(place.file);
}

function isPointer(text: string | undefined): boolean {
  const value = text === undefined ? undefined : parseJson(text);
  return typeof value === 'object' && value !== null && 'kept_in' in value && value.kept_in === 'keychain';
}
