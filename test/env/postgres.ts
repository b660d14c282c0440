import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { sharedBackend } from './run.ts';

export { type PostgresServer, startPostgres } from './postgres-server.ts';

export interface DatabaseOptions {
  /** False: an empty database, for the tests of the migrations themselves. */
  readonly migrated?: boolean;
  /** Default: the run's shared PostgreSQL. */
  readonly server?: { readonly url: string };
}

const SERVICES = ['signer', 'management'] as const;

/** A migrated database, copied from a template that is migrated once per server and run. */
export async function createDatabase(options: DatabaseOptions = {}) {
  const server = options.server ?? (await sharedPostgres());
  const migrated = options.migrated ?? true;
  const name = `ori_${randomBytes(8).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await administer(server.url, async (client) => {
    const template = migrated ? await requireTemplate(client, server.url) : 'template1';
    // Half the work of the default, which writes each page of the template to the log.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY = FILE_COPY`);
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
    /** The URL with the owner's login. */
    url: addressed(server.url, { database: name }),
    /** URLs with logins that are only members of `ori_signer` and `ori_management`. They cannot be used in an empty database. */
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

/** A database for one test, dropped on disposal. */
export type Database = Awaited<ReturnType<typeof createDatabase>>;

/** The lock that lets one test file migrate the template while the others wait. */
const TEMPLATE_LOCK = 0x6f7269;

const TEMPLATE = 'ori_template';

async function requireTemplate(client: pg.Client, serverUrl: string): Promise<string> {
  await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [TEMPLATE]);
    if (found.rowCount === 0) await migrateTemplate(client, serverUrl);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
  return TEMPLATE;
}

async function migrateTemplate(client: pg.Client, serverUrl: string): Promise<void> {
  const raw = `${TEMPLATE}_raw`;
  await client.query(`DROP DATABASE IF EXISTS ${raw} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${raw}`);
  const [{ openPostgres }, { migrate }] = await Promise.all([
    import('@ori/store/postgres'),
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
  await client.query(`ALTER DATABASE ${raw} RENAME TO ${TEMPLATE}`);
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

async function sharedPostgres(): Promise<{ readonly url: string }> {
  const url = await sharedBackend('postgresUrl');
  if (!url) throw new Error('the shared PostgreSQL exists within a test run only: use startPostgres()');
  return { url };
}
