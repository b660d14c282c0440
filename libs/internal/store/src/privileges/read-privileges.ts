import type { Statements } from '@ori/postgres/statements';

/** The privileges of a connection in this database, including those by membership. */
export interface Privileges {
  readonly role: string;
  /** The login, which can return to its own privileges at any time. */
  readonly login: string;
  readonly database: string;
  /** Attributes that override every grant, as `ALTER ROLE` spells them: `SUPERUSER`, `BYPASSRLS`, … */
  readonly attributes: readonly string[];
  /** Every other role whose privileges it has or can take, sorted; none for a superuser, which has all. */
  readonly memberships: readonly string[];
  /** `table.column`, sorted. */
  readonly readable: readonly string[];
  /** Tables that it may change in any way. */
  readonly writable: readonly string[];
  /** Tables that it owns, including by membership. */
  readonly owned: readonly string[];
  readonly mayCreateTables: boolean;
  readonly mayCreateTemporaryTables: boolean;
  readonly mayCreateSchemas: boolean;
  /** The migration as of which the roles have their grants. */
  readonly grantsAsOf: string;
}

export type Granted = Pick<Privileges, 'readable' | 'writable'>;

const RELATIONS = `
  select oid, relname, relowner from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')`;

/** The columns `readable` and `writable`, of a role by its name. */
const granted = (role: string) => `
  (select coalesce(array_agg(r.relname || '.' || a.attname order by r.relname, a.attname), '{}')
    from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    where has_column_privilege(${role}, r.oid, a.attnum, 'SELECT')) as readable,
  (select coalesce(array_agg(r.relname::text order by r.relname), '{}') from relations r
    where has_table_privilege(${role}, r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
      or has_any_column_privilege(${role}, r.oid, 'INSERT, UPDATE, REFERENCES')) as writable`;

/** What a role was granted itself: `$1` is the role. */
export const GRANTED_QUESTION = `with relations as (${RELATIONS}) select ${granted('$1::name')}`;

/** The catalogs are public, so every role can run this query. */
export const PRIVILEGES_QUESTION = `
  with relations as (${RELATIONS}), me as (select * from pg_roles where rolname = current_user)
  select current_user::text as role, session_user::text as login, current_database()::text as database,
    (select array_remove(array[
        case when rolsuper then 'SUPERUSER' end, case when rolbypassrls then 'BYPASSRLS' end,
        case when rolcreaterole then 'CREATEROLE' end, case when rolcreatedb then 'CREATEDB' end,
        case when rolreplication then 'REPLICATION' end], null) from me) as attributes,
    (select coalesce(array_agg(r.rolname::text order by r.rolname), '{}') from pg_roles r, me
      where not me.rolsuper and r.oid <> me.oid and pg_has_role(me.oid, r.oid, 'MEMBER')) as memberships,
    ${granted('current_user')},
    (select coalesce(array_agg(r.relname::text order by r.relname), '{}') from relations r, me
      where pg_has_role(me.oid, r.relowner, 'USAGE')) as owned,
    has_schema_privilege('public', 'CREATE') as "mayCreateTables",
    has_database_privilege(current_database(), 'TEMP') as "mayCreateTemporaryTables",
    has_database_privilege(current_database(), 'CREATE') as "mayCreateSchemas",
    coalesce(obj_description(to_regclass('public.ori_migrations'), 'pg_class'), '') as "grantsAsOf"`;

export async function readPrivileges(db: Statements): Promise<Privileges> {
  return privilegesOf(await db.query<Privileges>(PRIVILEGES_QUESTION));
}

/** Reads the result of {@link PRIVILEGES_QUESTION}, which is one row. */
export function privilegesOf([row]: readonly Privileges[]): Privileges {
  if (row === undefined) throw new Error('the privileges query returned no row');
  return row;
}
