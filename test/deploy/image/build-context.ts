import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import dockerIgnore from '@balena/dockerignore';
import { ROOT } from '../root.ts';

const ignored = dockerIgnore.default().add(readFileSync(`${ROOT}.dockerignore`, 'utf8'));

/** Whether `.dockerignore` includes a path of the checkout. */
export const admits = (path: string) => !ignored.ignores(path);

/** The included files below a path of the checkout. */
export function admittedFiles(path: string): string[] {
  if (!lstatSync(join(ROOT, path)).isDirectory()) return admits(path) ? [path] : [];
  // Folders that no image needs and that are slow to traverse.
  return readdirSync(join(ROOT, path))
    .filter((name) => name !== 'node_modules' && name !== '.git')
    .flatMap((name) => admittedFiles(join(path, name)));
}
