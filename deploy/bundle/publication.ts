import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url));

interface Project {
  readonly repository: { readonly type: string; readonly url: string };
  readonly homepage: string;
}

/**
 * The repository fields in the package.json of a published folder, copied from the package.json of the checkout; a
 * registry refuses provenance if they do not match the repository of the build.
 */
export async function publicationOf(folder: string) {
  const { repository, homepage }: Project = JSON.parse(await readFile(MANIFEST, 'utf8'));
  return {
    repository: { ...repository, directory: folder },
    homepage,
    publishConfig: { access: 'public', provenance: true },
  };
}
