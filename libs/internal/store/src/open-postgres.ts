import { openPool, type PoolOptions } from '@ori/postgres/pool';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import {
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type PostgresPool,
  type TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import type { Database } from './database.ts';
import type { StoreRole } from './privileges/grant.ts';
import type { Schema } from './schema.ts';
import { requireStoreRole } from './store-role.ts';

/**
 * Names the isolation level, because the database can have another default. Locks are taken for what is read after
 * them: with a snapshot from before the wait for one, two transactions could make the same record.
 */
class ReadCommittedDriver extends PostgresDriver {
  override beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    return super.beginTransaction(connection, { ...settings, isolationLevel: 'read committed' });
  }
}

/**
 * `migrate` has a lock of its own. That of kysely sets `lock_timeout` to an hour, and its release fails in a transaction
 * that has failed, which hides why.
 */
class LocklessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

export interface PostgresOptions extends Omit<PoolOptions, 'settings'> {
  /** Use this role (`SET ROLE` at connection). Not needed if the login role inherits it. */
  readonly role?: StoreRole;
  /** The actor of changes: a role that the login is a member of. */
  readonly actor?: string;
}

/** The same as `openPool`, with kysely for the services that have many queries. @throws TypeError also for an invalid role or actor */
export function openPostgres({ role, actor, ...options }: PostgresOptions): Database {
  const settings = startSettings({ role, actor });
  const check =
    settings === undefined
      ? options.check
      : async (client: pg.ClientBase) => {
          await requireSettings(client, { role, actor });
          await options.check?.(client);
        };
  const { pool, query, close, connections } = openPool({ ...options, settings, check });
  // Of a client, Kysely uses only `query` and `release`; its types have cursors too.
  const config = { pool: pool as unknown as PostgresPool };
  const dialect = new PostgresDialect(config);
  dialect.createAdapter = () => new LocklessAdapter();
  dialect.createDriver = () => new ReadCommittedDriver(config);
  const kysely = new Kysely<Schema>({ dialect });
  return { kysely, query, transaction: (work) => kysely.transaction().execute(work), close, connections };
}

interface Settings {
  readonly role: string | undefined;
  readonly actor: string | undefined;
}

function startSettings({ role, actor }: Settings): string | undefined {
  if (actor !== undefined && !/^[A-Za-z0-9_.@-]{1,63}$/.test(actor)) {
    throw new TypeError('actor: expected 1 to 63 of A-Z a-z 0-9 _ . @ -');
  }
  const settings = [
    ...(role === undefined ? [] : [`-c role=${requireStoreRole(role)}`]),
    ...(actor === undefined ? [] : [`-c ori.actor=${actor}`]),
  ];
  return settings.length === 0 ? undefined : settings.join(' ');
}

/** @throws StoreUnavailable if the role or the actor is not in force, because PgBouncer ignores `options` where it is told to */
async function requireSettings(
  client: Pick<pg.ClientBase, 'query'>,
  { role, actor }: Settings,
): Promise<void> {
  const { rows } = await client.query<{ role: string; actor: string | null }>(
    "select current_setting('role') as role, current_setting('ori.actor', true) as actor",
  );
  if ((role ?? rows[0]?.role) === rows[0]?.role && (actor ?? rows[0]?.actor) === rows[0]?.actor) return;
  const where =
    'something in between ignores the role and the actor of a connection; use the address of PostgreSQL itself';
  throw new StoreUnavailable('refused', `The database did not apply a setting: ${where}.`);
}
