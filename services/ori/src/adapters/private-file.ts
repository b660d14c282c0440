import { constants, readFileSync, type Stats } from 'node:fs';
import { access, chmod, type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../core/errors.ts';

/** More than ori writes: the tokens of an issuer's answer, or what a profile trusts of thousands of interns. */
const BYTES_MAX = 4 * 1024 * 1024;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/**
 * The text of a file that only its owner can read, or undefined if it does not exist. Throws `session_file_exposed` if
 * another user could have read or replaced it, `session_file_damaged` if it is not a regular file of this user.
 * `trusting` skips the first check, for a session that is about to be ended.
 */
export async function readPrivateFile(file: string, trusting: boolean): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > BYTES_MAX) throw new CliError('session_file_damaged', { file });
    if (!trusting) {
      requirePrivate(file, stats, OTHERS);
      // Of the folder itself, if the path is a link to it.
      requirePrivate(dirname(file), await stat(dirname(file)), OTHERS_WRITE);
    }
    return await handle.readFile('utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    if (isSystemError(error, 'ELOOP')) throw new CliError('session_file_damaged', { file });
    throw unusable(file, error);
  } finally {
    await handle?.close();
  }
}

/** The text of a small file, or undefined if it does not exist. Throws `session_file_unusable` if it cannot be read. */
export function readSmallFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw unusable(file, error);
  }
}

/**
 * Replaces the file atomically: a reader sees the complete old or new text, and no other user can read either. Only one
 * writer at a time; removes temporary files of a killed one.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const temporary = temporaryOf(file);
  try {
    await makePrivateFolder(dirname(file));
    await rm(temporary, { force: true });
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw unusable(file, error);
  }
}

/** Removes the file, and temporary files of a killed writer. Returns whether it existed. */
export async function removePrivateFile(file: string): Promise<boolean> {
  try {
    await rm(temporaryOf(file), { force: true });
    await rm(file);
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw unusable(file, error);
  }
}

/** Creates the folder if necessary. Throws `session_file_unusable` if files cannot be created in it. */
export async function requireWritable(folder: string): Promise<void> {
  try {
    await makePrivateFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Creates the folder with mode 0700, or sets that mode if it exists and is ours. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (hasModes() && ((await stat(folder)).mode & OTHERS) !== 0) await chmod(folder, 0o700);
}

function temporaryOf(file: string): string {
  return `${file}.tmp`;
}

function requirePrivate(file: string, stats: Stats, forbidden: number): void {
  if (!hasModes()) return;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  if ((stats.mode & forbidden) !== 0) throw new CliError('session_file_exposed', { file, mode });
  if (stats.uid !== process.getuid?.())
    throw new CliError('session_file_exposed', { file, mode: `owner ${stats.uid}` });
}

function hasModes(): boolean {
  return process.platform !== 'win32';
}

function unusable(file: string, error: unknown): unknown {
  if (error instanceof CliError || !(error instanceof Error)) return error;
  return new CliError('session_file_unusable', { file, why: error.message }, { cause: error });
}

function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
