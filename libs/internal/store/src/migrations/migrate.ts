import { StoreUnavailable, unavailable } from '@ori/postgres/store-unavailable';
import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Database } from '../database.ts';
import { failedWith } from '../queries/sql-state.ts';
import type { Schema } from '../schema.ts';
import { MIGRATIONS } from './all.ts';
import { applyGrants } from './apply-grants.ts';
import { MigrationError } from './migration-error.ts';
import { requireOurs, requirePolicies, requireUtf8 } from './ownership.ts';
import { endSilentConnections, ensureRoles, forbidLargeObjects, forbidTemporaryTables } from './roles.ts';

export { GRANTS_AS_OF } from '../privileges/grant.ts';
export { MigrationError, type MigrationErrorCode } from './migration-error.ts';

const MIGRATION_TABLE = 'ori_migrations';
const MIGRATION_LOCK_TABLE = 'ori_migration_lock';

/** Any constant works if every version of this code uses the same one. */
const LOCK_ID = 7_163_094_502_118_233n;

export interface MigrateOptions {
  readonly log?: (line: string) => void;
}

/**
 * Brings the database to this version: creates missing group roles, runs missing migrations, grants each role its
 * privileges, revokes PUBLIC's privileges, and has the server end silent connections. All of that is one transaction
 * under one advisory lock, so it is atomic and concurrent runs wait for each other. Run it as the owner of the database, which must be allowed to create roles or
 * have created them before; never as a service's role.
 *
 * @throws MigrationError `database_not_ours` if the database has tables and none of them is ours
 * @throws MigrationError `database_not_utf8`
 * @throws MigrationError `database_newer` if a later version migrated it
 * @throws MigrationError `role_unsafe` if one of the roles exists with an unsafe attribute such as SUPERUSER
 * @throws MigrationError `restore_incomplete` if a restore lost the row-level security policies
 * @throws MigrationError `migration_failed` if a migration failed; `cause` says why
 * @throws StoreUnavailable
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const migrating = db.kysely.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK_ID)})`.execute(tx);
    await sql`set local search_path = public`.execute(tx);
    // A schema change that waits for a table lock blocks every later query on the table.
    await sql`set local lock_timeout = '5s'`.execute(tx);
    await requireUtf8(tx);
    await requireOurs(tx, MIGRATION_TABLE);
    await ensureRoles(tx);
    const applied = await runMissing(tx);
    await requirePolicies(tx);
    await applyGrants(tx);
    await forbidTemporaryTables(tx);
    await forbidLargeObjects(tx);
    await endSilentConnections(tx);
    return applied;
  });
  const applied = await migrating.catch((error) => {
    throw failedWith(error, 'lock_not_available') ? unavailable('contended', error) : error;
  });
  for (const name of applied) options.log?.(`applied ${name}`);
  return { applied };
}

async function runMissing(tx: Kysely<Schema>): Promise<string[]> {
  const migrator = new Migrator({
    db: tx,
    provider: { getMigrations: async () => ({ ...MIGRATIONS }) },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: MIGRATION_LOCK_TABLE,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error instanceof StoreUnavailable) throw error;
  if (error !== undefined) {
    const failed = results?.find((result) => result.status === 'Error')?.migrationName;
    throw new MigrationError('migration_failed', `migration ${failed ?? 'run'} failed`, { cause: error });
  }
  return (results ?? [])
    .filter((result) => result.status === 'Success')
    .map((result) => result.migrationName);
}
