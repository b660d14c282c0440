import { type Kysely, sql } from 'kysely';
import type { StoreRole } from '../privileges/grant.ts';
import type { Schema } from '../schema.ts';
import { SERVICE_ROLES, STORE_ROLES } from '../store-role.ts';
import { MigrationError } from './migration-error.ts';

/**
 * Creates the group roles (NOLOGIN, no attribute) that do not exist. Roles belong to the whole server, so the migration
 * of another database may create the same role at the same moment; losing that race is not an error. Roles for
 * operators are skipped if the owner may not create roles; a later run grants to them once they exist.
 *
 * @throws MigrationError `role_unsafe`
 */
export async function ensureRoles(db: Kysely<Schema>): Promise<void> {
  for (const role of STORE_ROLES) {
    const tolerated = SERVICE_ROLES.includes(role) ? '' : ' or insufficient_privilege';
    await sql`
      do $$ begin
        if not exists (select 1 from pg_roles where rolname = ${sql.lit(role)}) then
          create role ${sql.id(role)} nologin nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
        end if;
      exception when duplicate_object or unique_violation${sql.raw(tolerated)} then null;
      end $$`.execute(db);
    await letOwnerActAs(db, role);
  }
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_roles
    where rolname in (${sql.join([...STORE_ROLES])})
      and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)`.execute(db);
  if (rows.length > 0) {
    const names = rows.map((row) => row.name).join(', ');
    throw new MigrationError(
      'role_unsafe',
      `${names}: the role of a service must not have an attribute such as SUPERUSER`,
    );
  }
}

/**
 * Lets an owner without superuser rights act as the role too (`openPostgres` with `role`), which creating a role does not
 * permit by itself. Skipped if the owner cannot grant it.
 */
async function letOwnerActAs(db: Kysely<Schema>, role: StoreRole): Promise<void> {
  await sql`
    do $$ begin
      if not (select rolsuper from pg_roles where rolname = current_user) then
        grant ${sql.id(role)} to current_user;
      end if;
    exception when insufficient_privilege or invalid_grant_operation or unique_violation or undefined_object then null;
    end $$`.execute(db);
}

/**
 * By default everyone can create temporary tables; no service needs it. Revoked on every run, because a copy of a
 * database (`CREATE DATABASE … TEMPLATE`) does not inherit privileges on the database itself.
 */
export async function forbidTemporaryTables(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select current_database() as name
    where has_database_privilege('ori_signer', current_database(), 'TEMP')`.execute(db);
  const name = rows[0]?.name;
  if (name !== undefined) await sql`revoke temporary on database ${sql.id(name)} from public`.execute(db);
}

/**
 * By default everyone can create large objects; no service needs them. Only a superuser can revoke that: the functions
 * belong to the server, not to the owner of the database.
 */
export async function forbidLargeObjects(db: Kysely<Schema>): Promise<void> {
  await sql`
    do $$ begin
      if (select rolsuper from pg_roles where rolname = current_user) then
        revoke execute on function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) from public;
      end if;
    end $$`.execute(db);
}

/**
 * After a minute the server ends a connection that a router on the way forgot; by default after two hours, until when it counts against
 * `max_connections`, while the pool that lost it opens others. For every login of this database; set on every run, because a copy or a
 * restored database has no settings. Skipped for one that does not own the database.
 */
export async function endSilentConnections(db: Kysely<Schema>): Promise<void> {
  await sql`
    do $$ begin
      execute format('alter database %I set tcp_keepalives_idle = 30', current_database());
      execute format('alter database %I set tcp_keepalives_interval = 10', current_database());
      execute format('alter database %I set tcp_keepalives_count = 3', current_database());
    exception when insufficient_privilege then null;
    end $$`.execute(db);
}
