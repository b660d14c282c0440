import { CliError, isCliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { parseSession, type Session } from '../core/session.ts';
import { readSecret, removeSecret, writeSecret } from './keychain.ts';
import { readPrivateFile, removePrivateFile, writePrivateFile } from './private-file.ts';

/** Where one profile's session is kept. */
export interface SessionPlace {
  readonly profile: string;
  /** Holds the session, or says that the keychain holds it. Its path is the account in the keychain. */
  readonly file: string;
  readonly lock: string;
  /** Holds the key that the session is bound to, where no keychain does: in another folder than the tokens. */
  readonly keyFile: string;
  /** Gives up waiting for a keychain that asks a person to unlock it. */
  readonly interrupted: AbortSignal;
}

export type Keeper = 'keychain' | 'file';

/** How a session was stored. `why` says what was wrong with the keychain when the file had to take its place. */
export interface Stored {
  readonly keptIn: Keeper;
  readonly why?: string;
}

/** The file's text while the keychain holds the session: nothing secret. */
const POINTER = `${JSON.stringify({ version: 1, kept_in: 'keychain' })}\n`;

/**
 * The stored session, whole, or undefined when there is none. Throws `session_file_exposed`,
 * `session_file_damaged`, `keychain_unusable`. `trusting` reads a file that others could have read too: for a
 * session that is about to be ended.
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

/** What keeps the profile's session; undefined when there is none. Reads no secret and asks for no unlocking. */
export async function keeperOf(place: SessionPlace): Promise<Keeper | undefined> {
  const text = await readPrivateFile(place.file, true);
  if (text === undefined) return undefined;
  return isPointer(text) ? 'keychain' : 'file';
}

/**
 * Stores the session in one step: a reader finds the old one or the new one, whole. Without `keeper` it stays
 * where it is. When the keychain takes nothing, the file does, unless `only` forbids it: a rotated refresh
 * token is never thrown away. Throws `session_file_unusable`, with `only` also `keychain_unusable`.
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

/** Removes the session. True when there was one. */
export async function removeSession(place: SessionPlace): Promise<boolean> {
  if ((await keeperOf(place).catch(() => undefined)) === 'keychain')
    await removeSecret(place.file, place.interrupted);
  return removePrivateFile(place.file);
}

function isPointer(text: string | undefined): boolean {
  const value = text === undefined ? undefined : parseJson(text);
  return typeof value === 'object' && value !== null && 'kept_in' in value && value.kept_in === 'keychain';
}
