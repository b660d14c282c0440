import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The folders of the wings among these files: a package says so in its package.json, another folder by a `wing.toml`.
 *
 * @param paths of files, readable from the current folder
 */
export function wingFolders(paths: readonly string[]): string[] {
  return paths
    .filter(
      (path) =>
        path.endsWith('/wing.toml') ||
        (path.endsWith('/package.json') && JSON.parse(readFileSync(path, 'utf8')).wing === true),
    )
    .map((path) => dirname(path));
}
