import { execFile } from 'node:child_process';
import { mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packLibraries } from '../../deploy/package/pack.ts';

const run = promisify(execFile);
export const MODULES: string = fileURLToPath(new URL('../../node_modules/', import.meta.url));
/** A Node besides the pinned one: CONSUMER_NODE, or that of this machine. */
const CONSUMER_NODE = process.env['CONSUMER_NODE'] ?? '/usr/bin/node';

export interface Project {
  readonly folder: string;
  readonly tarballs: readonly string[];
  /** Links a package of the workspace, which the project did not install. */
  link(...names: readonly string[]): Promise<void>;
}

/** An empty project that installs the verifier from tarballs, and nothing but what it depends on. The caller removes its folder. */
export async function createProject(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-package-'));
  const tarballs = await packLibraries(join(folder, 'tarballs'));
  await writeFile(join(folder, 'package.json'), '{"name":"daemon","private":true,"type":"module"}');
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  const wanted = tarballs.filter((tarball) => !tarball.includes('ori-tlog'));
  await run('npm', ['install', ...flags, ...wanted], { cwd: folder });
  return {
    folder,
    tarballs,
    async link(...names) {
      for (const name of names) await symlink(join(MODULES, name), join(folder, 'node_modules', name));
    },
  };
}

/** The programs to run a daemon with, by their major version: the pinned Node, and the other one where there is one. */
export async function findNodes(): Promise<Map<string, string>> {
  const nodes = new Map([[`${process.versions.node.split('.')[0]}`, process.execPath]]);
  const { stdout } = await run(CONSUMER_NODE, ['--version']).catch(() => ({ stdout: '' }));
  const major = /^v(\d+)\./.exec(stdout)?.[1];
  if (major !== undefined && !nodes.has(major)) nodes.set(major, CONSUMER_NODE);
  return nodes;
}
