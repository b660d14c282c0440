import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeStateFolder, removeFile } from './state-folder.ts';

const NOTES = {
  ada: 'member of the workspace of the demo intern',
  grace: 'member of another organization',
  alan: 'member of a workspace outside the interns programme',
  mary: 'removed from the workspace of the demo intern',
} as const;

export type CastName = keyof typeof NOTES;

interface DemoUser {
  readonly name: string;
  /** The `sub` that the demo provider gives them. */
  readonly subject: string;
  readonly note: string;
}

/** The part that is known before there is a database. */
export interface DemoCast {
  readonly internId: string;
  readonly users: readonly DemoUser[];
}

/** A new cast, unknown to any database. */
export function inventCast(): DemoCast {
  const users = Object.entries(NOTES).map(([name, note]) => ({ name, subject: `${name}-${random()}`, note }));
  return { internId: `int_${random()}`, users };
}

/**
 * The cast of the standalone on this port: that of its last start from this folder, so that exported values and
 * sessions stay valid; a new one the first time, or if the file is malformed.
 */
export function keptCast(home: string, port: number): DemoCast {
  const file = join(makeStateFolder(home), `demo-${port}.json`);
  const kept = readCast(file);
  if (kept !== undefined) return kept;
  const cast = inventCast();
  removeFile(file);
  writeFileSync(file, `${JSON.stringify(cast, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  return cast;
}

function readCast(file: string): DemoCast | undefined {
  try {
    const { internId, users } = JSON.parse(readFileSync(file, 'utf8')) as DemoCast;
    const cast = Object.entries(NOTES).map(([name, note]) => {
      const subject = users.find((user) => user.name === name)?.subject ?? '';
      return { name, subject, note };
    });
    const isWhole = cast.every(({ subject }) => /^[a-z]+-[0-9a-f]{16}$/.test(subject));
    return isWhole && /^int_[0-9a-f]{16}$/.test(internId) ? { internId, users: cast } : undefined;
  } catch {
    return undefined;
  }
}

function random(): string {
  return randomBytes(8).toString('hex');
}
