import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIBRARIES = ['proof', 'remote-json', 'verifier'] as const;
const DOCUMENTS = ['README.md', 'SPEC.md'];

/** The parts of a workspace's package.json that the shipped one is made of. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Record<string, string>;
  readonly imports?: Record<string, Record<string, string>>;
  readonly dependencies?: Record<string, string>;
}

/**
 * Compiles the libraries that others install and packs each from its `dist`, with a package.json of its own: in the workspace
 * the entry points are the sources. Returns the tarballs, in the order in which they depend on one another.
 */
export async function packLibraries(destination: string): Promise<string[]> {
  await mkdir(destination, { recursive: true });
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-b', ...LIBRARIES.map((name) => `libs/${name}`)], {
    cwd: ROOT,
  });
  const tarballs: string[] = [];
  for (const name of LIBRARIES)
    tarballs.push(await packLibrary(join(ROOT, 'libs', name), resolve(destination)));
  return tarballs;
}

async function packLibrary(library: string, destination: string): Promise<string> {
  const staging = await mkdtemp(join(tmpdir(), 'ori-pack-'));
  try {
    await stageCode(join(library, 'dist'), await sourcesOf(library), staging);
    for (const document of await readdir(library)) {
      if (DOCUMENTS.includes(document)) await cp(join(library, document), join(staging, document));
    }
    await cp(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
    const manifest: Manifest = JSON.parse(await readFile(join(library, 'package.json'), 'utf8'));
    await writeFile(join(staging, 'package.json'), `${JSON.stringify(shipped(manifest), null, 2)}\n`);
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination], {
      cwd: staging,
    });
    return join(destination, filenameOf(JSON.parse(stdout)));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The modules that exist now: `dist` may still hold what a deleted source left behind. */
async function sourcesOf(library: string): Promise<string[]> {
  const names = await readdir(join(library, 'src'), { recursive: true });
  return names.filter((name) => /^[\w/-]+\.ts$/.test(name)).map((name) => name.slice(0, -3));
}

async function stageCode(dist: string, modules: readonly string[], staging: string): Promise<void> {
  const built = await readdir(dist, { recursive: true });
  for (const module of modules) {
    for (const file of [`${module}.js`, `${module}.d.ts`]) {
      if (!built.includes(file)) continue;
      await mkdir(dirname(join(staging, file)), { recursive: true });
      await writeFile(join(staging, file), await readCode(join(dist, file)));
    }
  }
}

/** Declarations keep the `.ts` of their sources' imports, which older compilers do not take. */
async function readCode(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  return file.endsWith('.d.ts') ? text.replace(/((?:from|import)\s*\(?'\.[\w./-]+)\.ts'/g, "$1.js'") : text;
}

function shipped({ name, version, license, exports, imports, dependencies }: Manifest): object {
  return {
    name,
    version,
    license,
    type: 'module',
    engines: { node: '>=20.19' },
    sideEffects: false,
    exports: mapValues(exports, (source) => ({
      types: toDist(source, '.d.ts'),
      default: toDist(source, '.js'),
    })),
    ...(imports && { imports: mapValues(imports, (by) => mapValues(by, (source) => toDist(source, '.js'))) }),
    ...(dependencies && { dependencies }),
  };
}

function toDist(source: string, extension: string): string {
  return source.replace(/^\.\/src\//, './').replace(/\.ts$/, extension);
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/** npm answers with a list, newer ones with an object by name. */
function filenameOf(answer: object): string {
  const [packed] = Object.values(answer) as { filename: string }[];
  if (packed === undefined) throw new Error('npm pack made nothing');
  return packed.filename;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const tarball of await packLibraries(process.argv[2] ?? '.')) console.log(tarball);
}
