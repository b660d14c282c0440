import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The folder for the files of a standalone, in the working directory. */
export const STATE_FOLDER = '.ori';

/** Creates the state folder, accessible only to its owner. */
export function makeStateFolder(home: string): string {
  const folder = join(home, STATE_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
}
