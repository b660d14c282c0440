import { join } from 'node:path';
import { findProgram } from './room.ts';

/** Where `npm run setup` unpacks kubectl: Debian's is older than the manifests. */
export const KUBECTL_FOLDER = join(import.meta.dirname, '../../node_modules/.cache/ori-kubectl');

/** The path of `kubectl`. @throws Error if it is not installed */
export function kubectl(): string {
  const found = findProgram('kubectl', [KUBECTL_FOLDER]);
  if (found) return found;
  throw new Error('There is no kubectl here: `npm run setup` installs it on Linux x64.');
}
