import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path/posix';
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

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The place in a published folder of each document, by its path in the repository. */
export type Places = Readonly<Record<string, string>>;

/** Copies the documents. A relative link then leads to the packed copy of its target, or else to the repository. */
export async function stageDocuments(places: Places, folder: string): Promise<void> {
  const { homepage } = await publicationOf('');
  for (const [source, place] of Object.entries(places)) {
    const target = join(folder, place);
    await mkdir(dirname(target), { recursive: true });
    if (!place.endsWith('.md')) await cp(join(ROOT, source), target);
    else
      await writeFile(target, relink(await readFile(join(ROOT, source), 'utf8'), source, places, homepage));
  }
}

function relink(text: string, source: string, places: Places, homepage: string): string {
  return text.replaceAll(/\]\((?![a-z]+:|#|\/)([^)\s#]+)/g, (_link, path: string) => {
    const target = join(dirname(source), path);
    const place = places[target];
    return place === undefined
      ? `](${homepage}/blob/HEAD/${target}`
      : `](${relative(dirname(places[source] ?? ''), place)}`;
  });
}
