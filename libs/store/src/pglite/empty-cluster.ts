import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { PGlite } from '@electric-sql/pglite';

export interface StartedEngine {
  readonly engine: PGlite;
  /** Resolves when nothing more is done for a later start. */
  readonly kept: Promise<void>;
}

/**
 * Starts the engine in memory on an empty cluster, as `initdb` makes it. That takes longer than all else in a start, so the
 * first is kept in `folder` (5 MB), and each later one begins with a copy. What is kept there and cannot be used is made anew;
 * a folder that cannot be written keeps nothing.
 */
export async function startOnEmptyCluster(folder: string): Promise<StartedEngine> {
  const { PGlite } = await import('@electric-sql/pglite');
  const file = await keptIn(folder);
  // The checksum in it says whether it is whole.
  const kept = await readFile(file)
    .then((bytes) => promisify(gunzip)(bytes))
    .catch(() => undefined);
  const copy = kept && (await PGlite.create({ loadDataDir: new Blob([kept]) }).catch(() => undefined));
  if (copy !== undefined) return { engine: copy, kept: Promise.resolve() };
  const engine = await PGlite.create();
  // Copied before anybody writes to it; pressed and stored meanwhile.
  const cluster = await engine.dumpDataDir('none');
  return { engine, kept: keep(cluster, folder, file).catch(() => {}) };
}

/** Whoever reads the file finds it whole or not at all. */
async function keep(cluster: Blob, folder: string, file: string): Promise<void> {
  const bytes = await promisify(gzip)(await cluster.arrayBuffer(), { level: constants.Z_BEST_SPEED });
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(temporary, bytes, { mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Where a cluster is kept. Another version of the engine may lay its files out in another way. */
export async function keptIn(folder: string): Promise<string> {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'));
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  return join(folder, `empty-cluster-${version}.tar.gz`);
}
