import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

/**
 * Collects in a folder everything that programs need to run: themselves, their shared libraries, and the three files
 * from which the C library reads users and name resolution. `sbom.cdx.json` says what they are.
 */
function collectRuntime(folder: string, programs: readonly string[]): void {
  const collected = programs.flatMap((program) => {
    const [path = '', place = path] = program.split('=');
    return collectProgram(path, folder, place);
  });
  write(join(folder, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(collected), null, 1)}\n`);
  write(join(folder, 'etc/passwd'), 'ori:x:65532:65532::/nonexistent:/nonexistent\n');
  write(join(folder, 'etc/group'), 'ori:x:65532:\n');
  write(join(folder, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}

function collectProgram(program: string, folder: string, place: string): string[] {
  copy(program, join(folder, place));
  const printed = execFileSync('ldd', [program], { encoding: 'utf8' });
  const libraries = [...printed.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  for (const path of libraries) copy(path, join(folder, path));
  return [program, ...libraries];
}

/**
 * A CycloneDX document of the files: Node with what is compiled into it, and the Debian packages that the others come from.
 * The same files have the same document: its serial number is derived from the components, and it has no time.
 */
function billOfMaterials(files: readonly string[]): object {
  const node = realpathSync(process.execPath);
  const ofNode = Object.entries(files.some((file) => realpathSync(file) === node) ? process.versions : {})
    .filter(([name, version]) => version && name !== 'modules' && name !== 'napi')
    .map(([name, version = '']) => ({ name, version, purl: `pkg:generic/${name}@${version}` }));
  const others = new Set(files.filter((file) => realpathSync(file) !== node).map(packageOf));
  const components = [...ofNode, ...[...others].map((text) => JSON.parse(text))]
    .map((component) => ({ type: 'library', 'bom-ref': component.purl, ...component }))
    .toSorted((one, other) => (one.purl < other.purl ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify(components)).digest('hex');
  const serialNumber = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, 'urn:uuid:$1-$2-8$3-8$4-$5');
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, components };
}

/** Of dpkg, which fills in the fields. */
const FORMAT = ['Package', 'Version', 'Architecture'].map((field) => `\${${field}}`).join('\t');

/** The Debian package of a file as JSON. dpkg knows a file of `/usr/lib` by that name or without `/usr`. */
function packageOf(file: string): string {
  const ask = (...words: string[]) =>
    execFileSync('dpkg-query', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const real = realpathSync(file);
  for (const path of [real, real.replace(/^\/usr/, ''), file]) {
    try {
      const [name = ''] = ask('--search', path).split(': ');
      const shown = ask('--show', '--showformat', FORMAT, name).split('\t');
      const [id = '', version = '', arch = ''] = shown;
      const purl = `pkg:deb/debian/${encodeURIComponent(id)}@${encodeURIComponent(version)}?arch=${arch}`;
      return JSON.stringify({ name: id, version, purl });
    } catch {}
  }
  throw new Error(`${file} belongs to no Debian package`);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
}

const [folder, ...programs] = process.argv.slice(2);
if (folder === undefined || programs.length === 0) {
  throw new Error('usage: node collect-runtime.mts FOLDER PROGRAM[=PLACE]...');
}
collectRuntime(folder, programs);
