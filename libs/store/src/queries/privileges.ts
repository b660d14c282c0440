import { sql } from 'kysely';
import type { Database, StoreRole } from '../database.ts';

/** What the role that the queries run as may do in this database, its memberships included. */
export interface Privileges {
  readonly role: string;
  readonly superuser: boolean;
  /** `table.column`, sorted. */
  readonly readable: readonly string[];
  /** Tables into which it may write in any way. */
  readonly writable: readonly string[];
  readonly mayCreateTables: boolean;
  readonly mayCreateTemporaryTables: boolean;
}

interface Row {
  role: string;
  superuser: boolean;
  readable: string[] | null;
  writable: string[] | null;
  may_create: boolean;
  may_create_temporary: boolean;
}

/** The catalogs are public, so every role may ask this about itself. */
export async function readPrivileges(db: Database): Promise<Privileges> {
  const { rows } = await sql<Row>`
    with relations as (
      select c.oid, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm', 'f')
    )
    select current_user::text as role,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      (select array_agg(r.relname || '.' || a.attname order by r.relname, a.attname)
        from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
        where has_column_privilege(r.oid, a.attnum, 'SELECT')) as readable,
      (select array_agg(r.relname::text order by r.relname) from relations r
        where has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
          or has_any_column_privilege(r.oid, 'INSERT, UPDATE, REFERENCES')) as writable,
      has_schema_privilege('public', 'CREATE') as may_create,
      has_database_privilege(current_database(), 'TEMP') as may_create_temporary`.execute(db.kysely);
  const row = rows[0];
  if (row === undefined) throw new Error('the privileges query answers one row');
  return {
    role: row.role,
    superuser: row.superuser,
    readable: row.readable ?? [],
    writable: row.writable ?? [],
    mayCreateTables: row.may_create,
    mayCreateTemporaryTables: row.may_create_temporary,
  };
}

const SIGNER_READS: ReadonlySet<string> = new Set([
  'api_keys.disabled_at',
  'api_keys.hash',
  'api_keys.kind',
  'interns.id',
  'interns.workspace_id',
  'members.removed_at',
  'members.sessions_valid_from',
  'members.user_id',
  'members.workspace_id',
  'signing_keys.expires_at',
  'signing_keys.id',
  'signing_keys.intern_id',
  'signing_keys.kid',
  'signing_keys.not_before',
  'signing_keys.public_key',
  'signing_keys.retired_at',
  'signing_keys.sealed_seed',
  'switches.enabled',
  'switches.name',
  'user_subjects.issuer',
  'user_subjects.subject',
  'user_subjects.user_id',
  'users.disabled_at',
  'users.id',
  'workspaces.deleted_at',
  'workspaces.id',
  'workspaces.in_programme',
  'workspaces.organization_id',
]);

/** Tables that a service may write; the signer writes nothing. */
const WRITES: Readonly<Record<StoreRole, ReadonlySet<string>>> = {
  ori_signer: new Set(),
  ori_management: new Set([
    'byok_credentials',
    'guardrail_key_assignments',
    'guardrail_member_assignments',
    'guardrails',
  ]),
};

function mayRead(role: StoreRole, column: string): boolean {
  return role === 'ori_signer' ? SIGNER_READS.has(column) : !column.startsWith('signing_keys.');
}

/**
 * What the connection may do beyond what that service needs, in the operator's words; empty when it is as it should
 * be. For a check at start: a signer that runs as the owner works, and gives away the whole database when taken.
 */
export function excessPrivileges(privileges: Privileges, role: StoreRole): string[] {
  const excess: string[] = [];
  if (privileges.superuser) excess.push(`${privileges.role} is a superuser`);
  for (const column of privileges.readable) {
    if (!mayRead(role, column)) excess.push(`${privileges.role} may read ${column}`);
  }
  for (const table of privileges.writable) {
    if (!WRITES[role].has(table)) excess.push(`${privileges.role} may write ${table}`);
  }
  if (privileges.mayCreateTables) excess.push(`${privileges.role} may create tables`);
  if (privileges.mayCreateTemporaryTables) excess.push(`${privileges.role} may create temporary tables`);
  return excess;
}
