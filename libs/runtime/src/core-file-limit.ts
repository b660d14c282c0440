import { readFileSync } from 'node:fs';

/** How large a core dump of this process may be, as Linux says it: `0`, bytes, `unlimited`; elsewhere undefined. */
export function coreFileLimit(): string | undefined {
  try {
    return /^Max core file size +(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
