import { openPool, type PoolOptions } from '@ori/postgres/pool';
import {
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type PostgresPool,
  type TransactionSettings,
} from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { requireStoreRole, type StoreRole } from './store-role.ts';

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

export interface PostgresOptions extends PoolOptions {
  readonly role?: StoreRole;
}

/** The same as `openPool`, with kysely for the services that have many queries. @throws TypeError also if `role` is not a role of this store */
export function openPostgres(options: PostgresOptions): Database {
  if (options.role !== undefined) requireStoreRole(options.role);
  const { pool, query, close, connections } = openPool(options);
  // Of a client, Kysely uses only `query` and `release`; its types have cursors too.
  const config = { pool: pool as unknown as PostgresPool };
  const dialect = new PostgresDialect(config);
  dialect.createAdapter = () => new LocklessAdapter();
  dialect.createDriver = () => new ReadCommittedDriver(config);
  const kysely = new Kysely<Schema>({ dialect });
  return { kysely, query, transaction: (work) => kysely.transaction().execute(work), close, connections };
}
