import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A service's main program, and the folders that hold all of its code. */
export interface ProgramPlace {
  readonly main: string;
  readonly code: readonly string[];
}

/**
 * Where the program of an entry is. Built, it is `main.js` beside its entry and needs nothing else; in a checkout it is
 * `src/main.ts` beside the entry's folder `bin`, and needs the workspace.
 *
 * @param folder of the entry
 * @param source of the main program in a checkout, relative to the service
 */
export function placeOf(folder: string, source = 'src/main.ts'): ProgramPlace {
  const built = join(folder, 'main.js');
  if (existsSync(built)) return { main: built, code: [folder] };
  const root = join(folder, '../../..');
  return {
    main: join(folder, '..', source),
    code: ['node_modules', 'libs', 'services'].map((name) => join(root, name)),
  };
}
