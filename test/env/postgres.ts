import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { findPostgres } from './postgres-binaries.ts';
import { type PostgresServer, startPostgresAnywhere, startPostgresProcesses } from './postgres-server.ts';
import { providedBackends } from './run.ts';

export type { PostgresServer } from './postgres-server.ts';

export interface DatabaseOptions {
  /** False: an empty database, for the tests of the migrations themselves. */
  readonly migrated?: boolean;
  /** Default: the run's shared PostgreSQL. */
  readonly server?: { readonly url: string };
}

const SERVICES = ['signer', 'management'] as const;

/** A database for one test, dropped on disposal. */
export interface Database extends AsyncDisposable {
  readonly name: string;
  /** The URL with the owner's login. */
  readonly url: string;
  /** URLs with logins that are only members of `ori_signer` and `ori_management`. They cannot be used in an empty database. */
  readonly signerUrl: string;
  readonly managementUrl: string;
}

/** Starts a private cluster, never `TEST_DATABASE_URL`'s: from the run's Docker engine, the PATH or npm. */
export async function startPostgres(): Promise<PostgresServer> {
  const origin = providedBackends()?.postgres.origin;
  const binaries = origin === 'path' || origin === 'npm' ? findPostgres(origin) : undefined;
  if (binaries) return startPostgresProcesses(binaries);
  return (await startPostgresAnywhere()).server;
}

/** A migrated database, copied from a template that is migrated once per server and run. */
export async function createDatabase(options: DatabaseOptions = {}): Promise<Database> {
  const server = options.server ?? sharedPostgres();
  const migrated = options.migrated ?? true;
  const name = `${runPrefix()}_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await administer(server.url, async (client) => {
    const template = migrated ? await requireTemplate(client, server.url) : 'template1';
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    if (!migrated) return;
    // Copying a database does not copy privileges on the database itself.
    await client.query(`REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`);
    for (const service of SERVICES) {
      await client.query(
        `CREATE ROLE ${name}_${service} LOGIN PASSWORD '${password}' IN ROLE ori_${service}`,
      );
    }
  });
  const urlOf = (service: (typeof SERVICES)[number]) =>
    addressed(server.url, { database: name, user: `${name}_${service}`, password });
  return {
    name,
    url: addressed(server.url, { database: name }),
    signerUrl: urlOf('signer'),
    managementUrl: urlOf('management'),
    async [Symbol.asyncDispose]() {
      await administer(server.url, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        for (const service of SERVICES) await client.query(`DROP ROLE IF EXISTS ${name}_${service}`);
      });
    },
  };
}

/** Removes everything that a run created on an external server. */
export async function dropDatabasesOfRun(serverUrl: string, runId: string): Promise<void> {
  const like = `ori\\_${runId}\\_%`;
  await administer(serverUrl, async (client) => {
    const databases = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE datname LIKE $1',
      [like],
    );
    for (const { name } of databases.rows) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    const roles = await client.query<{ name: string }>(
      'SELECT rolname AS name FROM pg_roles WHERE rolname LIKE $1',
      [like],
    );
    for (const { name } of roles.rows) await client.query(`DROP ROLE IF EXISTS ${name}`);
  });
}

/** The lock that lets one test file migrate the template while the others wait. */
const TEMPLATE_LOCK = 0x6f7269;

async function requireTemplate(client: pg.Client, serverUrl: string): Promise<string> {
  const template = `${runPrefix()}_template`;
  await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (found.rowCount === 0) await migrateTemplate(client, serverUrl, template);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
  return template;
}

async function migrateTemplate(client: pg.Client, serverUrl: string, template: string): Promise<void> {
  const raw = `${template}_raw`;
  await client.query(`DROP DATABASE IF EXISTS ${raw} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${raw}`);
  const [{ openPostgres }, { migrate }] = await Promise.all([
    import('@ori/store'),
    import('@ori/store/migrate'),
  ]);
  const database = openPostgres({
    url: addressed(serverUrl, { database: raw }),
    poolMax: 1,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
  });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
  await client.query(`ALTER DATABASE ${raw} RENAME TO ${template}`);
}

async function administer<T>(serverUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function addressed(serverUrl: string, parts: { database: string; user?: string; password?: string }): string {
  const url = new URL(serverUrl);
  url.pathname = `/${parts.database}`;
  if (parts.user !== undefined) url.username = parts.user;
  if (parts.password !== undefined) url.password = parts.password;
  return url.href;
}

function sharedPostgres(): { readonly url: string } {
  const backends = providedBackends();
  if (!backends) throw new Error('the shared PostgreSQL exists within a test run only: use startPostgres()');
  return backends.postgres;
}

const standaloneRunId = randomBytes(4).toString('hex');

function runPrefix(): string {
  return `ori_${providedBackends()?.runId ?? standaloneRunId}`;
}
