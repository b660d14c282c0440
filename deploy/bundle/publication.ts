import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const MANIFEST = fileURLToPath(new URL('../../package.json', import.meta.url));

interface Project {
  readonly repository: { readonly type: string; readonly url: string };
  readonly homepage: string;
}

/**
 * What the package.json of a published folder says about where it comes from. The addresses are written once, in the package.json of
 * the checkout; a registry refuses provenance where they are not those of the repository that was built from.
 */
export async function publicationOf(folder: string) {
  const { repository, homepage }: Project = JSON.parse(await readFile(MANIFEST, 'utf8'));
  return {
    repository: { ...repository, directory: folder },
    homepage,
    publishConfig: { access: 'public', provenance: true },
  };
}
