import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Locates the main program of an entry, and the folders with all of its code. In a build it is `main.js` next to the entry and needs nothing else; in a checkout
 * it is `src/main.ts` next to the folder `bin` of the entry, and needs the workspace.
 *
 * @param folder of the entry
 * @param source of the main program in a checkout, relative to the service
 */
export function placeOf(folder: string, source = 'src/main.ts') {
  const built = join(folder, 'main.js');
  if (existsSync(built)) return { main: built, code: [folder] };
  const root = join(folder, '../../..');
  return {
    main: join(folder, '..', source),
    code: ['node_modules', 'libs', 'services'].map((name) => join(root, name)),
  };
}
