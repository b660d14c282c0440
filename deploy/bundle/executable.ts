import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { packagesOf, renderLicences } from './licences.ts';

const ROOT = join(import.meta.dirname, '../..');
const MODULES = join(ROOT, 'node_modules');
const run = promisify(execFile);
/** Node's marker for a program inside of its own executable. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const PLATFORM = `${process.platform}-${process.arch}`;
/** The package with the Node that is copied; npm installs it on Linux. */
const NODE = join(MODULES, `node-${PLATFORM}`);

/** Whether an executable can be built here. */
export const CAN_BUILD = existsSync(join(NODE, 'bin/node'));

/** The programs that run where nobody installs Node: on a person's computer, and beside a daemon in any language. */
const EXECUTABLES = { ori: 'services/ori', 'ori-guard': 'services/guard' } as const;
export type ExecutableName = keyof typeof EXECUTABLES;

/** Native code cannot be loaded from an executable: sessions are stored in files, and pg has none of its own. */
const NOT_INCLUDED = ['@napi-rs/keyring', 'pg-native', 'supports-color'];

/**
 * Builds a program as one file that needs no Node: a copy of the pinned Node with the program in it (a single executable
 * application). Beside it are its SHA-256, as `sha256sum -c` reads it, the licences of what it contains, and a
 * CycloneDX bill of materials.
 *
 * @param target the output folder
 * @returns the path of the executable, such as `…/ori-linux-x64`
 */
export async function buildExecutable(target: string, name: ExecutableName = 'ori'): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'ori-executable-'));
  try {
    const script = join(work, `${name}.cjs`);
    const blob = join(work, `${name}.blob`);
    const config = join(work, 'sea.json');
    const packages = [...(await bundleCommonJs(EXECUTABLES[name], script)), NODE];
    await writeFile(
      config,
      JSON.stringify({ main: script, output: blob, disableExperimentalSEAWarning: true }),
    );
    await run(join(NODE, 'bin/node'), ['--experimental-sea-config', config]);
    await mkdir(target, { recursive: true });
    const file = join(target, `${name}-${PLATFORM}`);
    await copyFile(join(NODE, 'bin/node'), file);
    await chmod(file, 0o755);
    const injector = join(MODULES, 'postject/dist/cli.js');
    await run(process.execPath, [injector, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE]);
    const sha256 = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    await writeFile(`${file}.sha256`, `${sha256}  ${basename(file)}\n`);
    await writeFile(`${file}.licenses`, renderLicences(packages));
    await writeFile(`${file}.cdx.json`, `${JSON.stringify(billOf(name, packages, sha256), null, 2)}\n`);
    return file;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Node runs only CommonJS from an executable. Resolves to the folders of the bundled packages. */
async function bundleCommonJs(folder: string, file: string): Promise<string[]> {
  await using build = await rolldown({
    input: `${folder}/bin/executable.js`,
    cwd: ROOT,
    platform: 'node',
    external: NOT_INCLUDED,
    onLog(_level, { message }) {
      throw new Error(`executable: ${message}`);
    },
  });
  const { output } = await build.write({ file, format: 'cjs', codeSplitting: false });
  return packagesOf(Object.keys(output[0].modules));
}

/** CycloneDX 1.6. */
function billOf(name: ExecutableName, packages: readonly string[], sha256: string) {
  const manifest = (folder: string): { name: string; version: string } =>
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { version } = manifest(join(ROOT, EXECUTABLES[name]));
  const hashes = [{ alg: 'SHA-256', content: sha256 }];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version, hashes } },
    components: packages.map(manifest).map(({ name, version }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    })),
  };
}

if (import.meta.main) {
  const target = process.argv[2] ?? join(ROOT, 'dist/bin');
  if (!CAN_BUILD) console.log(`There is no pinned Node for ${PLATFORM}, so no executable was built.`);
  else for (const name of ['ori', 'ori-guard'] as const) console.log(await buildExecutable(target, name));
}
