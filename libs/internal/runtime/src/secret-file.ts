import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { systemErrorCode } from './system-error-code.ts';

/** Mode bits that must not be set: all for others, and write for the group. */
const TOO_OPEN = 0o027;

/** A secret file was refused. The message is for the operator and quotes nothing of its content. */
export class SecretFileError extends Error {}

/**
 * Reads a secret from a file. A regular file must not be accessible to others: anyone who can read it has the secret,
 * anyone who can write it controls it. The group may read, which mounted secrets need.
 *
 * @throws SecretFileError
 */
export function readSecretFile(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
  try {
    requireClosed(path, fstatSync(file));
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw error instanceof SecretFileError ? error : unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

function requireClosed(path: string, stats: Stats): void {
  // A pipe or a device stores no content, and Windows has no such mode.
  if (!stats.isFile() || process.platform === 'win32' || (stats.mode & TOO_OPEN) === 0) return;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  const who = (stats.mode & 0o007) === 0 ? 'its group may write' : 'everyone on this machine may open';
  throw new SecretFileError(
    `${JSON.stringify(path)} is a secret that ${who} (mode ${mode}): chmod 0600, or 0440 where a group reads it`,
  );
}

function unreadable(path: string, error: unknown): SecretFileError {
  return new SecretFileError(`cannot read ${JSON.stringify(path)} (${systemErrorCode(error)})`);
}
