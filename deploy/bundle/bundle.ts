import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';
import { publicationOf, stageDocuments } from './documents.ts';
import { leaveOut } from './left-out.ts';
import { packagesOf, renderLicences } from './licences.ts';
import { SHIPPED, type ShippedFolder } from './programs.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Optional imports of packages, and those of code that no service uses: the embedded database. */
const NOT_SHIPPED = [
  '@electric-sql/pglite',
  '@electric-sql/pglite-prepopulatedfs',
  'pg-native',
  'supports-color',
];

/**
 * Builds the shipped programs: for each, one file that needs only Node, its source map, and the licences of its
 * dependencies. The code is not minified, so that stack traces have function names and each source follows a line with
 * its name.
 *
 * @param target the output folder, which is recreated
 * @throws Error if a program would need a package, if the bundler warns, or if a package states no licence
 */
export async function bundle(target: string, shipped: readonly ShippedFolder[] = SHIPPED): Promise<void> {
  await rm(target, { recursive: true, force: true });
  for (const folder of shipped) await bundleFolder(folder, join(target, folder.name));
}

async function bundleFolder(shipped: ShippedFolder, folder: string): Promise<void> {
  const { programs, documents = [] } = shipped;
  const modules: string[] = [];
  for (const [program, source] of Object.entries(programs)) {
    const chunk = await bundleProgram(source, join(folder, `${program}.js`), shipped);
    modules.push(...Object.keys(chunk.modules));
  }
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES'), renderLicences(packagesOf(modules)));
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  await stageDocuments(Object.fromEntries(documents.map((each) => [each, basename(each)])), folder);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifestOf(shipped), null, 2)}\n`);
}

/** Without a package.json, Node would have to detect the module type. */
async function manifestOf({ name, manifest, optionalDependencies }: ShippedFolder) {
  const { version, license } = await readJson(join(ROOT, 'libs/internal/runtime/package.json'));
  const own = manifest
    ? { ...manifest, ...(await publicationOf('services/ori')) }
    : { name: `ori-${name}`, private: true };
  if (optionalDependencies === undefined) return { ...own, version, license, type: 'module' };
  const installed = optionalDependencies.map(async (id) => {
    const { version } = await readJson(join(ROOT, 'node_modules', id, 'package.json'));
    return [id, version] as const;
  });
  const optional = Object.fromEntries(await Promise.all(installed));
  return { ...own, version, license, type: 'module', optionalDependencies: optional };
}

async function readJson(file: string): Promise<{ version: string; license: string }> {
  return JSON.parse(await readFile(file, 'utf8'));
}

async function bundleProgram(
  source: string,
  file: string,
  { optionalDependencies = [], manifest }: ShippedFolder,
): Promise<OutputChunk> {
  await using build = await rolldown({
    input: source,
    cwd: ROOT,
    platform: 'node',
    external: [...NOT_SHIPPED, ...optionalDependencies],
    plugins: [leaveOut],
    // An older Node must be able to parse a program that reports the required version.
    ...(manifest === undefined ? {} : { transform: { target: 'node20' } }),
    onLog(_level, { message }) {
      throw new Error(`${source}: ${message}`);
    },
  });
  const { output } = await build.write({
    file,
    format: 'esm',
    codeSplitting: false,
    sourcemap: true,
    sourcemapExcludeSources: true,
    sourcemapPathTransform: (path, map) => resolve(dirname(map), path).replace(`${ROOT}/`, ''),
  });
  const [chunk] = output;
  const provided = [chunk.fileName, ...optionalDependencies];
  const needed = [...chunk.imports, ...chunk.dynamicImports].filter(
    (id) => !isBuiltin(id) && !provided.includes(id),
  );
  if (needed.length > 0) throw new Error(`${source} would need ${needed.join(' and ')}`);
  return chunk;
}

/** Without arguments everything, otherwise the named folders of `dist`. */
if (import.meta.main) {
  const names = process.argv.slice(2);
  const chosen = SHIPPED.filter(({ name }) => names.length === 0 || names.includes(name));
  await bundle(join(ROOT, 'dist'), chosen);
}
