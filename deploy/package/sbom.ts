import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}
type Lock = Record<string, LockedPackage>;

interface Bom {
  serialNumber: string;
  readonly metadata: { readonly component: { name: string }; timestamp?: string };
  components: { readonly 'bom-ref': string; readonly name: string; readonly version: string; cpe?: string }[];
  dependencies: { readonly ref: string; dependsOn?: string[] }[];
}

/**
 * Prints a CycloneDX document of what runs in production: libraries, services and commands, and every package they depend on.
 * It filters npm's own document by the lockfile, because `npm sbom --omit dev` (npm 11) also leaves out a runtime
 * dependency that some package of the tree lists as a development dependency.
 */
function main(): void {
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { name: string };
  const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as { packages: Lock };
  const shipped = runtimePackages(lock.packages);
  const bom = JSON.parse(
    execFileSync(
      'npm',
      ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'],
      { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    ),
  ) as Bom;
  bom.metadata.component.name = manifest.name;
  bom.components = bom.components.filter((component) => shipped.has(component['bom-ref']));
  // Known vulnerabilities of Node are listed under this name, not under those of the packages that carry its binaries.
  for (const component of bom.components)
    if (component.name.startsWith('node-linux-'))
      component.cpe = `cpe:2.3:a:nodejs:node.js:${component.version}:*:*:*:*:*:*:*`;
  bom.dependencies = bom.dependencies.filter(({ ref }) => shipped.has(ref));
  for (const dependency of bom.dependencies)
    dependency.dependsOn = dependency.dependsOn?.filter((ref) => shipped.has(ref)) ?? [];
  delete bom.metadata.timestamp;
  bom.serialNumber = serialOf(bom);
  console.log(JSON.stringify(bom, null, 2));
}

/** `name@version` of the checkout, its libraries and services, and their runtime dependencies. */
function runtimePackages(lock: Lock): Set<string> {
  const visited = new Set<string>();
  const queue = ['', ...Object.keys(lock).filter((path) => /^(?:libs\/[^/]+|services)\/[^/]+$/.test(path))];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (visited.has(path)) continue;
    visited.add(path);
    const { dependencies, optionalDependencies } = lock[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = locate(lock, path, name);
      if (found !== undefined) queue.push(found);
      else if (optionalDependencies?.[name] === undefined)
        throw new Error(`package-lock.json has no ${name}, which ${path} needs. Run npm install.`);
    }
  }
  return new Set(
    [...visited].map((path) => {
      const { name = path.replace(/^.*node_modules\//, ''), version } = lock[path] ?? {};
      return `${name}@${version}`;
    }),
  );
}

/** The same content has the same number. */
function serialOf({ components, dependencies }: Bom): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([components, dependencies]))
    .digest('hex');
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, 'urn:uuid:$1-$2-8$3-8$4-$5');
}

/** Where Node would find a package: the nearest node_modules upwards, through the link of a workspace. */
function locate(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const found = lock[path];
    if (found !== undefined) return found.link === true ? found.resolved : path;
    if (folder === '') return undefined;
  }
}

main();
