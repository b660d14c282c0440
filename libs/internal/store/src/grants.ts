import { type Kysely, sql } from 'kysely';
import { STORE_ROLES, type StoreRole } from './database.ts';
import type { Schema } from './schema.ts';

type Table = keyof Schema & string;

interface TableGrant<Column extends string> {
  /** True: every column. */
  readonly select: true | readonly Column[];
  readonly update?: true | readonly Column[];
  readonly insert?: true;
  readonly delete?: true;
}

type Grants = { readonly [T in Table]?: TableGrant<keyof Schema[T] & string> };

const WHOLE = { select: true, insert: true, update: true, delete: true } as const;

/**
 * The exact privileges of each role on each table. `migrate` grants them on every run, and a service refuses to start
 * with a login that has more. The signer can read only the columns that its queries name, and write nothing; management
 * can read everything except signing keys. Operators can change every table except the audit, which they can only read.
 */
const GRANTS: Readonly<Record<StoreRole, Grants>> = {
  ori_signer: {
    api_keys: { select: ['hash', 'kind', 'disabled_at', 'expires_at'] },
    interns: { select: ['id', 'workspace_id'] },
    members: { select: ['workspace_id', 'user_id', 'removed_at', 'sessions_valid_from'] },
    organizations: { select: ['id', 'turns_per_user', 'turns_per_organization'] },
    signing_keys: {
      select: [
        'id',
        'intern_id',
        'kid',
        'public_key',
        'sealed_seed',
        'not_before',
        'expires_at',
        'retired_at',
        'statement',
      ],
    },
    switches: { select: true },
    user_subjects: { select: ['issuer', 'subject', 'user_id'] },
    users: { select: ['id', 'disabled_at'] },
    workspaces: { select: ['id', 'organization_id', 'in_programme', 'deleted_at'] },
  },
  ori_management: {
    api_keys: {
      select: true,
      insert: true,
      update: ['name', 'disabled_at', 'updated_at'],
      delete: true,
    },
    byok_credentials: {
      select: true,
      insert: true,
      delete: true,
      update: [
        'name',
        'label',
        'sealed_key',
        'key_region',
        'disabled',
        'is_fallback',
        'is_required',
        'is_byok_only',
        'allowed_api_key_hashes',
        'allowed_models',
        'allowed_user_ids',
        'declared_region',
        'declared_zdr',
      ],
    },
    dpop_epoch: { select: true, insert: true, update: true },
    guardrail_key_assignments: WHOLE,
    guardrail_member_assignments: WHOLE,
    guardrail_tallies: { select: true },
    guardrails: WHOLE,
    idempotency_keys: WHOLE,
    idempotency_tallies: WHOLE,
    intern_icons: { select: true },
    interns: { select: true },
    members: { select: true, insert: true, update: ['removed_at'] },
    organizations: { select: true },
    spent_dpop_proofs: { select: true, insert: true, update: true, delete: true },
    switches: { select: true },
    user_subjects: { select: true },
    users: { select: true },
    workspace_tallies: { select: true },
    workspaces: {
      select: true,
      insert: true,
      update: ['name', 'slug', 'description', 'updated_at', 'deleted_at'],
    },
  },
  ori_operator: {
    admin_audit: { select: true },
    api_keys: WHOLE,
    byok_credentials: WHOLE,
    guardrail_key_assignments: WHOLE,
    guardrail_member_assignments: WHOLE,
    guardrail_tallies: { select: true },
    guardrails: WHOLE,
    idempotency_keys: WHOLE,
    idempotency_tallies: WHOLE,
    intern_icons: WHOLE,
    interns: WHOLE,
    members: WHOLE,
    organizations: WHOLE,
    signing_keys: WHOLE,
    switches: WHOLE,
    user_subjects: WHOLE,
    users: WHOLE,
    workspace_tallies: { select: true },
    workspaces: WHOLE,
  },
  ori_auditor: { admin_audit: { select: true } },
};

const grantOf = (role: StoreRole, table: string): TableGrant<string> | undefined =>
  GRANTS[role][table as Table];

/** @param column as `table.column` */
export function mayRead(role: StoreRole, column: string): boolean {
  const [table = '', name = ''] = column.split('.');
  const select = grantOf(role, table)?.select ?? [];
  return select === true || select.includes(name);
}

/** Whether the role may change a table's rows in any way. */
export function mayWrite(role: StoreRole, table: string): boolean {
  const grant = grantOf(role, table);
  return grant !== undefined && (grant.insert ?? grant.update ?? grant.delete) !== undefined;
}

/** The newest migration that {@link GRANTS} knows. */
export const GRANTS_AS_OF = '0001-schema';

/**
 * Makes the privileges of each role exactly {@link GRANTS}, whatever they were before, for example after a restore that
 * lost them. A comment says since which migration, so that an older service does not refuse what its role was granted
 * later.
 */
export async function applyGrants(db: Kysely<Schema>): Promise<void> {
  await sql`comment on table ori_migrations is ${sql.lit(GRANTS_AS_OF)}`.execute(db);
  await sql`revoke create on schema public from public`.execute(db);
  for (const role of await existingRoles(db)) {
    await sql`revoke all on all tables in schema public from ${sql.id(role)}`.execute(db);
    await sql`grant usage on schema public to ${sql.id(role)}`.execute(db);
    for (const [table, grant] of Object.entries(GRANTS[role])) {
      const privileges = sql.join(privilegesOf(grant));
      await sql`grant ${privileges} on ${sql.table(table)} to ${sql.id(role)}`.execute(db);
    }
    if (role === 'ori_operator') await showAllRows(db, role);
  }
}

async function existingRoles(db: Kysely<Schema>): Promise<StoreRole[]> {
  const { rows } = await sql<{ name: StoreRole }>`
    select rolname as name from pg_roles where rolname in (${sql.join([...STORE_ROLES])})`.execute(db);
  return rows.map(({ name }) => name);
}

/** Under row-level security, a role other than the owner sees only the rows that a policy shows. */
async function showAllRows(db: Kysely<Schema>, role: StoreRole): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relrowsecurity
      and not exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polname = ${role})`.execute(
    db,
  );
  for (const { name } of rows) {
    await sql`create policy ${sql.id(role)} on ${sql.table(name)} to ${sql.id(role)} using (true) with check (true)`.execute(
      db,
    );
  }
}

function privilegesOf({ select, update, insert, delete: remove }: TableGrant<string>) {
  const on = (privilege: string, columns: true | readonly string[]) =>
    columns === true
      ? sql.raw(privilege)
      : sql`${sql.raw(privilege)} (${sql.join(columns.map((column) => sql.id(column)))})`;
  return [
    on('select', select),
    ...(update === undefined ? [] : [on('update', update)]),
    ...(insert ? [sql.raw('insert')] : []),
    ...(remove ? [sql.raw('delete')] : []),
  ];
}
