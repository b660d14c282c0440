import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { CliError } from '../core/errors.ts';
import { makePrivateFolder } from './private-file.ts';

const POLL_MS = 25;
/** Longer than a refresh can take, so that the holder finishes or fails first. */
const WAIT_SECONDS_MAX = 40;
const SQLITE_BUSY = 5;

/**
 * Runs `work` while no other `ori` process of this user does. Two concurrent refreshes would invalidate a rotating
 * refresh token, at some issuers the whole session. Uses SQLite's lock on an empty file, which the kernel releases when
 * a process dies. Throws `session_busy` if the lock stays taken, `session_file_unusable` if the file cannot be opened, has
 * something else in it or the disk does not lock, `interrupted` while waiting for it.
 */
export async function withSessionLock<T>(
  file: string,
  interrupted: AbortSignal,
  work: () => Promise<T>,
  waitSeconds = WAIT_SECONDS_MAX,
): Promise<T> {
  const lock = await openLock(file);
  try {
    const giveUpAt = performance.now() + waitSeconds * 1000;
    while (!taken(lock, file)) {
      if (interrupted.aborted) throw new CliError('interrupted', {});
      if (performance.now() > giveUpAt) throw new CliError('session_busy', { file });
      await pause(POLL_MS);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function taken(lock: DatabaseSync, file: string): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw new CliError('session_file_unusable', { file, why: error.message }, { cause: error });
  }
}

async function openLock(file: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite');
  try {
    await makePrivateFolder(dirname(file));
    // Only SQLite opens a file that exists, and a new one is closed at once: closing it later would release the lock of this process.
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CliError('session_file_unusable', { file, why: error.message }, { cause: error });
  }
}
