import { readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { systemErrorCode } from '@ori/faces/system-error';

const WILDCARD = /[*?[]/;

/** Whether a path contains a wildcard of glob(3). */
export function isPattern(path: string): boolean {
  return WILDCARD.test(path);
}

/**
 * The files that a pattern of glob(3) matches, in order: `*`, `?` and `[…]` within one part of the path, a leading dot
 * only by a dot. No `**` and no braces, which nginx does not support either. Rejects if a folder cannot be listed.
 */
export async function filesMatching(pattern: string): Promise<string[]> {
  const segments = pattern.split('/').filter((part) => part !== '');
  const first = segments.findIndex(isPattern);
  let found = [join(isAbsolute(pattern) ? '/' : '.', ...segments.slice(0, first))];
  for (const segment of segments.slice(first)) {
    const matched: string[] = [];
    for (const folder of found) {
      for (const name of await namesIn(folder)) if (matches(name, segment)) matched.push(join(folder, name));
    }
    found = matched;
  }
  return found.toSorted();
}

/** Whether a path with the same number of parts matches the pattern, without reading folders. */
export function matcherOf(pattern: string): (path: string) => boolean {
  const segments = pattern.split('/');
  return (path) => {
    const names = path.split('/');
    return (
      names.length === segments.length && names.every((name, index) => matches(name, segments[index] ?? ''))
    );
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

function matches(name: string, segment: string): boolean {
  if (name.startsWith('.') && !segment.startsWith('.')) return false;
  const source = segment.replace(
    /\[(!?)(\]?[^\]]*)\]|[\\^$.|+(){}[\]*?]/g,
    (piece, not?: string, set?: string) => {
      if (piece === '*') return '.*';
      if (piece === '?') return '.';
      if (set === undefined || set === '') return `\\${piece}`;
      return `[${not === '!' ? '^' : ''}${set.replace(/[\\\]^[]/g, '\\$&')}]`;
    },
  );
  try {
    return new RegExp(`^${source}$`, 's').test(name);
  } catch {
    return false;
  }
}
