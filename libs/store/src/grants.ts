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
 * What each service may do to each table, and nothing else. `migrate` grants it on every run, and a service refuses to start with a
 * login that may do more. The signer reads the columns that its queries name and writes nothing; management reads everything but
 * signing keys.
 */
export const GRANTS: Readonly<Record<StoreRole, Grants>> = {
  ori_signer: {
    api_keys: { select: ['hash', 'kind', 'disabled_at'] },
    interns: { select: ['id', 'workspace_id'] },
    members: { select: ['workspace_id', 'user_id', 'removed_at', 'sessions_valid_from'] },
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
      ],
    },
    switches: { select: true },
    user_subjects: { select: ['issuer', 'subject', 'user_id'] },
    users: { select: ['id', 'disabled_at'] },
    workspaces: { select: ['id', 'organization_id', 'in_programme', 'deleted_at'] },
  },
  ori_management: {
    api_keys: { select: true },
    byok_credentials: {
      select: true,
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
    guardrail_key_assignments: WHOLE,
    guardrail_member_assignments: WHOLE,
    guardrails: WHOLE,
    intern_icons: { select: true },
    interns: { select: true },
    members: { select: true },
    organizations: { select: true },
    switches: { select: true },
    user_subjects: { select: true },
    users: { select: true },
    workspaces: { select: true },
  },
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

/** Makes the privileges of both roles exactly {@link GRANTS}, whatever they were: also after a restore that lost them. */
export async function applyGrants(db: Kysely<Schema>): Promise<void> {
  await sql`revoke create on schema public from public`.execute(db);
  for (const role of STORE_ROLES) {
    await sql`revoke all on all tables in schema public from ${sql.id(role)}`.execute(db);
    await sql`grant usage on schema public to ${sql.id(role)}`.execute(db);
    for (const [table, grant] of Object.entries(GRANTS[role])) {
      const privileges = sql.join(privilegesOf(grant));
      await sql`grant ${privileges} on ${sql.table(table)} to ${sql.id(role)}`.execute(db);
    }
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
