import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../core/errors.ts';
import { parseSession, type Session } from '../core/session.ts';

const SESSION_BYTES_MAX = 256 * 1024;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/**
 * The stored session, or undefined when there is none. Throws `session_file_exposed` when another user could
 * have read or replaced it, `session_file_damaged` when it is not one of ours. `trusting` skips the first:
 * for a session that is about to be ended.
 */
export async function readSession(
  file: string,
  options?: { trusting: boolean },
): Promise<Session | undefined> {
  const text = await readPrivate(file, options?.trusting ?? false);
  if (text === undefined) return undefined;
  const session = parseSession(text);
  if (session === undefined) throw new CliError('session_file_damaged', { file });
  return session;
}

/**
 * Writes the session so that a reader finds the old one or the new one, whole, and nobody else finds either.
 */
export async function writeSession(file: string, session: Session): Promise<void> {
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    await makePrivateFolder(dirname(file));
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(session, null, 2)}\n`);
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

/** Removes the session file. True when there was one. */
export async function removeSession(file: string): Promise<boolean> {
  try {
    await rm(file);
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw unusable(file, error);
  }
}

/** Makes the folder 0700; one that exists and is ours is narrowed to that. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (hasModes() && ((await lstat(folder)).mode & OTHERS) !== 0) await chmod(folder, 0o700);
}

async function readPrivate(file: string, trusting: boolean): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > SESSION_BYTES_MAX)
      throw new CliError('session_file_damaged', { file });
    if (!trusting) {
      requirePrivate(file, stats, OTHERS);
      requirePrivate(dirname(file), await lstat(dirname(file)), OTHERS_WRITE);
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
