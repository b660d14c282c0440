import { readFileSync } from 'node:fs';

/** The maximum size of a core dump of this process on Linux: `0`, bytes or `unlimited`; undefined elsewhere. */
export function coreFileLimit(): string | undefined {
  try {
    return /^Max core file size +(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
