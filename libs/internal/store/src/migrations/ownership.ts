import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { MIGRATIONS } from './all.ts';
import { MigrationError } from './migration-error.ts';

/** Tables, views and sequences that belong neither to the system nor to an extension. */
async function foreignRelations(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select n.nspname || '.' || c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
      and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
        and d.deptype = 'e')
    order by 1 limit 4`.execute(db);
  return rows.map((row) => row.name);
}

/**
 * A dump restored on a server without the roles loses its policies, so that services would see no rows.
 *
 * @throws MigrationError `restore_incomplete`
 */
export async function requirePolicies(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class c
    where relnamespace = 'public'::regnamespace and relrowsecurity
      and not exists (select 1 from pg_policy p where p.polrelid = c.oid)
    order by 1`.execute(db);
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(', ');
  throw new MigrationError(
    'restore_incomplete',
    `no row-level security policy on ${names}: the dump was restored without its roles; restore it again by deploy/database/restore.sh`,
  );
}

/**
 * In another encoding, a name that it cannot represent would be refused as a defect, once somebody has such a name.
 *
 * @throws MigrationError `database_not_utf8`
 */
export async function requireUtf8(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`
    select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  throw new MigrationError(
    'database_not_utf8',
    `the database is encoded in ${encoding}; create one for ori by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
  );
}

/**
 * Checks that the database has our table of migrations, without a migration that this version does not know.
 *
 * @throws MigrationError `database_not_ours`, `database_newer`
 */
export async function requireOurs(db: Kysely<Schema>, migrationTable: string): Promise<void> {
  const { rows: found } = await sql<{ ours: boolean }>`
    select to_regclass(${`public.${migrationTable}`}) is not null as ours`.execute(db);
  if (found[0]?.ours !== true) {
    const names = await foreignRelations(db);
    if (names.length === 0) return;
    const some = names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '');
    throw new MigrationError(
      'database_not_ours',
      `the database is not empty and was not created by ori (it contains ${some}); create an empty one for ori`,
    );
  }
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(migrationTable)}`.execute(db);
  const later = rows.map((row) => row.name).filter((name) => !(name in MIGRATIONS));
  if (later.length > 0) {
    throw new MigrationError(
      'database_newer',
      `the database was migrated by a later version (${later.join(', ')}); run that version`,
    );
  }
}
