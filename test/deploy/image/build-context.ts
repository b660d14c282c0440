import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether `.dockerignore` includes a path of the checkout; the last matching pattern decides. */
export type Admits = (path: string) => boolean;

export function readIgnoreFile(root: string): Admits {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const admits = line.startsWith('!');
      return { admits, pattern: toRegExp(admits ? line.slice(1) : line) };
    });
  return (path) =>
    rules.reduce((admitted, { admits, pattern }) => (pattern.test(path) ? admits : admitted), true);
}

/** A pattern matches a path and everything below it; `*` stays within a name, `**` does not. */
function toRegExp(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*\/|\*)/)
    .map((part) => ({ '**/': '(?:.*/)?', '*': '[^/]*' })[part] ?? part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('');
  return new RegExp(`^${source}(?:/.*)?$`);
}

/** The included files below `path`, relative to `root`. */
export function admittedFiles(root: string, path: string, admits: Admits): string[] {
  if (!lstatSync(join(root, path)).isDirectory()) return admits(path) ? [path] : [];
  // Folders that no image needs and that are slow to traverse.
  return readdirSync(join(root, path))
    .filter((name) => name !== 'node_modules' && name !== '.git')
    .flatMap((name) => admittedFiles(root, join(path, name), admits));
}
