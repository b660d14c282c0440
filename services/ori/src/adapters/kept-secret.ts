import { isCliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { readSecret, removeSecret, writeSecret } from './keychain.ts';
import { readPrivateFile, removePrivateFile, writePrivateFile } from './private-file.ts';

/** A text that a file keeps, or the keychain: then the file says so, and its path is the name of the account there. */
export interface SecretPlace {
  readonly file: string;
  /** Stops waiting for a keychain that asks the user to unlock it. */
  readonly interrupted: AbortSignal;
}

export type Keeper = 'keychain' | 'file';

export interface Keeping {
  /** Where it stays, if this is undefined. */
  readonly keeper?: Keeper;
  /** Not in the file if the keychain fails. */
  readonly only?: boolean;
}

/** How a text was stored. `why` says why the keychain could not be used, if a file was used instead. */
export interface Stored {
  readonly keptIn: Keeper;
  readonly why?: string;
}

/** The content of the file while the keychain has the text. It contains no secret. */
const POINTER = `${JSON.stringify({ version: 1, kept_in: 'keychain' })}\n`;

/**
 * The stored text, or undefined if there is none. Throws `session_file_exposed`, `session_file_damaged`,
 * `keychain_unusable`. `trusting` also reads a file that others could have read, for a session that is about to be
 * ended.
 */
export async function readKept(
  { file, interrupted }: SecretPlace,
  { trusting = false }: { trusting?: boolean } = {},
): Promise<string | undefined> {
  const inFile = await readPrivateFile(file, trusting);
  return isPointer(inFile) ? readSecret(file, interrupted) : inFile;
}

/** Where the text is stored; undefined if there is none. Reads no secret and does not ask for unlocking. */
export async function keeperOf({ file }: Pick<SecretPlace, 'file'>): Promise<Keeper | undefined> {
  const text = await readPrivateFile(file, true);
  if (text === undefined) return undefined;
  return isPointer(text) ? 'keychain' : 'file';
}

/**
 * Stores the text atomically. If the keychain fails, it goes into the file, because a rotated refresh token must not be
 * lost. Throws `session_file_unusable`, with `only` also `keychain_unusable`.
 */
export async function writeKept(
  { file, interrupted }: SecretPlace,
  text: string,
  { keeper, only = false }: Keeping = {},
): Promise<Stored> {
  const before = await keeperOf({ file }).catch(() => undefined);
  let fallback: { why?: string } = {};
  if ((keeper ?? before) === 'keychain') {
    try {
      await writeSecret(file, text, interrupted);
      if (before !== 'keychain') await pointToKeychain({ file, interrupted });
      return { keptIn: 'keychain' };
    } catch (error) {
      if (only || !isCliError(error, 'keychain_unusable')) throw error;
      fallback = { why: error.facts.why };
    }
  }
  await writePrivateFile(file, text);
  // What does not fit into the keychain does not replace what is there.
  if (before === 'keychain') await removeSecret(file, interrupted).catch(() => {});
  return { keptIn: 'file', ...fallback };
}

/** A text in the keychain that no file points to would never be removed. */
async function pointToKeychain({ file, interrupted }: SecretPlace): Promise<void> {
  try {
    await writePrivateFile(file, POINTER);
  } catch (error) {
    await removeSecret(file, interrupted).catch(() => {});
    throw error;
  }
}

/** Removes the text. Returns whether there was one. */
export async function removeKept({ file, interrupted }: SecretPlace): Promise<boolean> {
  if ((await keeperOf({ file }).catch(() => undefined)) === 'keychain') await removeSecret(file, interrupted);
  return removePrivateFile(file);
}

function isPointer(text: string | undefined): boolean {
  const value = text === undefined ? undefined : parseJson(text);
  return typeof value === 'object' && value !== null && 'kept_in' in value && value.kept_in === 'keychain';
}
