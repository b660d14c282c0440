import { execFile } from 'node:child_process';
import { mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const MODULES: string = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const PACK = new URL('../../deploy/package/pack.ts', import.meta.url).href;
/** A Node other than the pinned one: CONSUMER_NODE, or this machine's. */
const CONSUMER_NODE = process.env['CONSUMER_NODE'] ?? '/usr/bin/node';

/** An empty project that installs only the verifier, from its tarball, and its dependencies. The caller removes the folder. */
export async function createProject() {
  const folder = await mkdtemp(join(tmpdir(), 'ori-package-'));
  const tarballs = await packed(join(folder, 'tarballs'));
  await writeFile(join(folder, 'package.json'), '{"name":"daemon","private":true,"type":"module"}');
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  const wanted = tarballs.filter((tarball) => tarball.includes('ori-verifier'));
  await run('npm', ['install', ...flags, ...wanted], { cwd: folder });
  return {
    folder,
    tarballs,
    /** Links a workspace package that the project did not install. */
    async link(...names: readonly string[]): Promise<void> {
      for (const name of names) await symlink(join(MODULES, name), join(folder, 'node_modules', name));
    },
  };
}

export type Project = Awaited<ReturnType<typeof createProject>>;

/** Packed under a umask that keeps others out, which the tarballs must not show. */
export async function packed(folder: string): Promise<string[]> {
  const pack = `import(${JSON.stringify(PACK)}).then(async ({ packLibraries }) =>
    console.log((await packLibraries(process.argv[1])).join('\\n')))`;
  const words = ['-c', 'umask 077; exec "$0" "$@"', process.execPath, '-e', pack, folder];
  const { stdout } = await run('/bin/sh', words);
  return stdout.trim().split('\n');
}

/** The Node programs to run a daemon with, by major version: the pinned one, and the other one if there is one. */
export async function findNodes(): Promise<Map<string, string>> {
  const nodes = new Map([[`${process.versions.node.split('.')[0]}`, process.execPath]]);
  const { stdout } = await run(CONSUMER_NODE, ['--version']).catch(() => ({ stdout: '' }));
  const major = /^v(\d+)\./.exec(stdout)?.[1];
  if (major !== undefined && !nodes.has(major)) nodes.set(major, CONSUMER_NODE);
  return nodes;
}
