import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { bundle } from '../bundle/bundle.ts';
import { type Places, stageDocuments } from '../bundle/documents.ts';
import { SHIPPED } from '../bundle/programs.ts';
import { publicationOf } from '../bundle/publication.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The packages in the order of their dependencies, the private libraries that are copied into each, and its documents. */
const LIBRARIES: readonly {
  readonly name: string;
  readonly inlined: readonly string[];
  readonly documents: Places;
}[] = [
  {
    name: 'proof',
    inlined: [],
    documents: {
      'libs/public/proof/README.md': 'README.md',
      'libs/public/proof/SPEC.md': 'SPEC.md',
      'test/vectors/README.md': 'vectors/README.md',
      'test/vectors/manifest.json': 'vectors/manifest.json',
      'test/vectors/rooted-sets.json': 'vectors/rooted-sets.json',
      'test/vectors/signing.json': 'vectors/signing.json',
      'test/vectors/verdicts.json': 'vectors/verdicts.json',
      'test/vectors/version-3.json': 'vectors/version-3.json',
    },
  },
  { name: 'tlog', inlined: [], documents: { 'libs/public/tlog/README.md': 'README.md' } },
  {
    name: 'verifier',
    inlined: ['remote-json'],
    documents: { 'libs/public/verifier/README.md': 'README.md' },
  },
];

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

/**
 * Compiles the published libraries and packs each from its `dist` with its own package.json: in the workspace, the
 * entry points are the sources and the packages are private to prevent accidental publication. Returns the tarballs in
 * the order of their dependencies.
 */
export async function packLibraries(destination: string): Promise<string[]> {
  await mkdir(destination, { recursive: true });
  await run(
    join(ROOT, 'node_modules/.bin/tsc'),
    ['-b', ...LIBRARIES.map(({ name }) => `libs/public/${name}`)],
    {
      cwd: ROOT,
    },
  );
  const tarballs: string[] = [];
  for (const library of LIBRARIES) tarballs.push(await packLibrary(library, resolve(destination)));
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

async function packLibrary(
  { name, inlined, documents }: (typeof LIBRARIES)[number],
  destination: string,
): Promise<string> {
  const library = join(ROOT, 'libs/public', name);
  const staging = await mkdtemp(join(tmpdir(), 'ori-pack-'));
  try {
    await stageCode(library, staging, '', inlined);
    for (const other of inlined) await stageCode(join(ROOT, 'libs/public', other), staging, other, inlined);
    await stageDocuments(documents, staging);
    await cp(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
    const manifest: Manifest = JSON.parse(await readFile(join(library, 'package.json'), 'utf8'));
    await writeFile(
      join(staging, 'package.json'),
      `${JSON.stringify(await shipped(manifest, inlined), null, 2)}\n`,
    );
    return await pack(staging, destination);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
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
  library: string,
  staging: string,
  folder: string,
  inlined: readonly string[],
): Promise<void> {
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

/** Rewrites imports of an inlined library to the copy; each has one module with its own name. */
function inline(code: string, from: string, inlined: readonly string[]): string {
  return inlined.reduce((text, name) => {
    const path = relative(from, join(name, `${name}.js`));
    return text.replaceAll(`'@ori/${name}'`, `'${path.startsWith('.') ? path : `./${path}`}'`);
  }, code);
}

/** Declarations keep the `.ts` of their sources' imports, which older compilers do not accept. */
async function readCode(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  return file.endsWith('.d.ts') ? text.replace(/((?:from|import)\s*\(?'\.[\w./-]+)\.ts'/g, "$1.js'") : text;
}

async function shipped(manifest: Manifest, inlined: readonly string[]): Promise<object> {
  const { exports, imports, dependencies = {}, peerDependencies, peerDependenciesMeta } = manifest;
  const { name, version, description, keywords, license } = manifest;
  const isInlined = (other: string): boolean => inlined.some((own) => other === `@ori/${own}`);
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
    ...(imports && { imports: mapValues(imports, (by) => mapValues(by, (source) => toDist(source, '.js'))) }),
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([other]) => !isInlined(other))),
    ...(peerDependencies && { peerDependencies, peerDependenciesMeta }),
  };
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
}
