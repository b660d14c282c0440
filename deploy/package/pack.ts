import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { bundle } from '../bundle/bundle.ts';
import { type Places, publicationOf, stageDocuments } from '../bundle/documents.ts';
import { SHIPPED } from '../bundle/programs.ts';
import { packPython } from './pack-python.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OURS = '@ori/';

/** The packages, each with the documents in its folder. */
const LIBRARIES = ['proof', 'tlog', 'verifier'];
const VECTORS = 'test/vectors';

/** The fields of a workspace's package.json that the shipped one contains. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly exports: Record<string, string>;
  readonly imports?: Record<string, Record<string, string>>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, object>;
}

/** A library that is copied into the package of another, so that no package manager asks a registry for it. */
interface Inlined {
  readonly name: string;
  readonly manifest: Manifest;
}

/**
 * Compiles the published libraries and packs each from its `dist` with its own package.json: in the workspace, the
 * entry points are the sources and the packages are private to prevent accidental publication. Each contains the
 * libraries of ours that it imports. Returns the tarballs.
 */
export async function packLibraries(destination: string): Promise<string[]> {
  await mkdir(destination, { recursive: true });
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-b', ...LIBRARIES.map((name) => `libs/public/${name}`)], {
    cwd: ROOT,
  });
  const tarballs: string[] = [];
  for (const name of LIBRARIES) tarballs.push(await packLibrary(name, resolve(destination)));
  return tarballs;
}

/** Packs the command from its bundle. */
export async function packCommand(destination: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-pack-'));
  try {
    await bundle(
      folder,
      SHIPPED.filter(({ name }) => name === 'cli'),
    );
    return await pack(join(folder, 'cli'), resolve(destination));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function packLibrary(name: string, destination: string): Promise<string> {
  const staging = await mkdtemp(join(tmpdir(), 'ori-pack-'));
  try {
    const manifest = await manifestOf(name);
    const inlined = await inlinedInto(manifest);
    await stageCode(name, staging, '', inlined);
    for (const other of inlined) await stageCode(other.name, staging, other.name, inlined);
    await stageDocuments(await documentsOf(name), staging);
    await cp(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
    await writeFile(
      join(staging, 'package.json'),
      `${JSON.stringify(await shipped(manifest, inlined), null, 2)}\n`,
    );
    return await pack(staging, destination);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Those of its folder; `proof` has the vectors, too. */
async function documentsOf(name: string): Promise<Places> {
  const placed = async (folder: string, wanted: RegExp, to = ''): Promise<Places> => {
    const files = (await readdir(join(ROOT, folder))).filter((file) => wanted.test(file));
    return Object.fromEntries(files.map((file) => [`${folder}/${file}`, to + file]));
  };
  const vectors = name === 'proof' ? await placed(VECTORS, /\.(?:md|json)$/, 'vectors/') : {};
  return { ...(await placed(`libs/public/${name}`, /\.md$/)), ...vectors };
}

async function manifestOf(name: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(ROOT, 'libs/public', name, 'package.json'), 'utf8'));
}

/** The libraries of ours that a package needs, and those that they need. */
async function inlinedInto({ dependencies = {} }: Manifest): Promise<readonly Inlined[]> {
  const found = new Map<string, Inlined>();
  for (const dependency of Object.keys(dependencies).filter(isOurs)) {
    const name = dependency.slice(OURS.length);
    const manifest = await manifestOf(name);
    for (const one of [{ name, manifest }, ...(await inlinedInto(manifest))]) found.set(one.name, one);
  }
  return [...found.values()];
}

async function pack(folder: string, destination: string): Promise<string> {
  // npm keeps what the umask made of the modes.
  await run('chmod', ['-R', 'u=rwX,go=rX', folder]);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination], { cwd: folder });
  return join(destination, filenameOf(JSON.parse(stdout)));
}

/** The current modules: `dist` may still contain output of deleted sources. */
async function sourcesOf(library: string): Promise<string[]> {
  const names = await readdir(join(library, 'src'), { recursive: true });
  return names.filter((name) => /^[\w/-]+\.ts$/.test(name)).map((name) => name.slice(0, -3));
}

/** Copies the compiled modules of a library to `folder` of the staging. */
async function stageCode(
  name: string,
  staging: string,
  folder: string,
  inlined: readonly Inlined[],
): Promise<void> {
  const library = join(ROOT, 'libs/public', name);
  const dist = join(library, 'dist');
  const built = await readdir(dist, { recursive: true });
  for (const module of await sourcesOf(library)) {
    for (const file of [`${module}.js`, `${module}.d.ts`]) {
      if (!built.includes(file)) continue;
      const target = join(folder, file);
      await mkdir(dirname(join(staging, target)), { recursive: true });
      await writeFile(
        join(staging, target),
        inline(await readCode(join(dist, file)), dirname(target), inlined),
      );
    }
  }
}

/** Rewrites imports of an inlined library to the copy. */
function inline(code: string, from: string, inlined: readonly Inlined[]): string {
  const entries = inlined.flatMap(({ name, manifest }) =>
    Object.entries(manifest.exports).map(([entry, source]) => [
      `'${OURS}${name}${entry.slice(1)}'`,
      relative(from, join(name, toDist(source, '.js'))),
    ]),
  );
  return entries.reduce(
    (text, [entry = '', path = '']) =>
      text.replaceAll(entry, `'${path.startsWith('.') ? path : `./${path}`}'`),
    code,
  );
}

/** Declarations keep the `.ts` of their sources' imports, which older compilers do not accept. Inferred types have imports of their own. */
async function readCode(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  if (!file.endsWith('.d.ts')) return text;
  return text
    .replace(/\bimport\("([^"]+)"\)/g, "import('$1')")
    .replace(/((?:from|import)\s*\(?'\.[\w./-]+)\.ts'/g, "$1.js'");
}

async function shipped(manifest: Manifest, inlined: readonly Inlined[]): Promise<object> {
  const { name, version, description, keywords, license } = manifest;
  const { exports, peerDependencies, peerDependenciesMeta } = manifest;
  const imports = Object.assign(
    importsOf(manifest, ''),
    ...inlined.map((one) => importsOf(one.manifest, `${one.name}/`)),
  );
  const needed = [manifest, ...inlined.map((one) => one.manifest)].flatMap(({ dependencies = {} }) =>
    Object.entries(dependencies).filter(([other]) => !isOurs(other)),
  );
  return {
    name,
    version,
    description,
    keywords,
    license,
    ...(await publicationOf(name.replace('@ori/', 'libs/public/'))),
    type: 'module',
    engines: { node: '>=20.19' },
    sideEffects: false,
    exports: {
      ...mapValues(exports, (source) => ({
        types: toDist(source, '.d.ts'),
        default: toDist(source, '.js'),
      })),
      './package.json': './package.json',
    },
    imports,
    dependencies: Object.fromEntries(needed),
    ...(peerDependencies && { peerDependencies, peerDependenciesMeta }),
  };
}

function importsOf({ imports = {} }: Manifest, folder: string): object {
  return mapValues(imports, (by) =>
    mapValues(by, (source) => toDist(source, '.js').replace('./', `./${folder}`)),
  );
}

function isOurs(name: string): boolean {
  return name.startsWith(OURS);
}

function toDist(source: string, extension: string): string {
  return source.replace(/^\.\/src\//, './').replace(/\.ts$/, extension);
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/** npm prints a list, newer versions an object by name. */
function filenameOf(answer: object): string {
  const [packed] = Object.values(answer) as { filename: string }[];
  if (packed === undefined) throw new Error('npm pack created nothing');
  return packed.filename;
}

if (import.meta.main) {
  const destination = process.argv[2] ?? join(ROOT, 'dist/packages');
  for (const tarball of [...(await packLibraries(destination)), await packCommand(destination)])
    console.log(tarball);
  try {
    for (const file of await packPython(destination)) console.log(file);
  } catch (error) {
    const [why = ''] = String(error instanceof Error ? error.message : error).split('\n', 1);
    console.warn(
      `ori-proof for Python was left out, which takes python3 with venv and a package index: ${why}`,
    );
  }
}
