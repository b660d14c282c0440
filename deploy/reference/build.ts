import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Application, type DeclarationReflection, ReflectionKind } from 'typedoc';

const ROOT = join(import.meta.dirname, '../..');
const LIBRARIES = ['verifier', 'proof'];

interface Entry {
  /** The module that others import: `@ori/verifier/express`. */
  readonly name: string;
  readonly source: string;
  /** What TypeDoc calls it. */
  readonly path: string;
}

async function entriesOf(library: string): Promise<Entry[]> {
  const folder = join(ROOT, 'libs/public', library);
  const { name, exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return Object.entries<string>(exports).map(([entry, source]) => ({
    name: join(name, entry),
    source: join(folder, source),
    path: join(library, source).replace(/(?:\/index)?\.ts$/, ''),
  }));
}

/**
 * Builds the reference of `@ori/verifier` and `@ori/proof` from their docstrings: a page for each function, class and type.
 * @throws {Error} TypeDoc warned: a link leads nowhere, or something public has no docstring or is not exported.
 */
export async function buildReference(target: string): Promise<void> {
  const entries = (await Promise.all(LIBRARIES.map(entriesOf))).flat();
  const app = await Application.bootstrap({
    name: 'ori daemon-proof',
    entryPoints: entries.map(({ source }) => source),
    tsconfig: join(import.meta.dirname, 'tsconfig.json'),
    // `npm run check` does it.
    skipErrorChecking: true,
    readme: join(ROOT, 'libs/public/verifier/README.md'),
    projectDocuments: ['SPEC', 'KEY-SETS', 'REPLAY-STORES', 'ROOTED-KEY-SETS'].map((name) =>
      join(ROOT, `libs/public/proof/${name}.md`),
    ),
    disableSources: true,
    hideGenerator: true,
    excludeExternals: true,
    githubPages: false,
    highlightLanguages: [
      'http',
      'javascript',
      'json',
      'python',
      'shellscript',
      'sql',
      'text',
      'toml',
      'typescript',
    ],
    validation: { notExported: true, invalidLink: true, notDocumented: true },
    requiredToBeDocumented: ['Class', 'Interface'],
    packagesRequiringDocumentation: LIBRARIES.map((library) => `@ori/${library}`),
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('the sources could not be read');
  for (const module of project.children ?? [])
    module.name = entries.find(({ path }) => path === module.name)?.name ?? module.name;
  app.validate(project);
  for (const { name, signatures } of project.getReflectionsByKind(
    ReflectionKind.Function,
  ) as DeclarationReflection[])
    if (!signatures?.some((signature) => signature.hasComment())) app.logger.warn(`${name} has no docstring`);
  await app.generateDocs(project, target);
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error('the reference has faults: see above');
}

if (import.meta.main) await buildReference(process.argv[2] ?? join(ROOT, 'dist/reference'));
