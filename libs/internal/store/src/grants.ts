import type { StoreRole } from './store-role.ts';

export interface TableGrant {
  /** True: every column. */
  readonly select: true | readonly string[];
  readonly update?: true | readonly string[];
  readonly insert?: true;
  readonly delete?: true;
}

/** By table. `migrate` fails if there is no such table or column. */
type Grants = Readonly<Record<string, TableGrant>>;

const WHOLE = { select: true, insert: true, update: true, delete: true } as const;

/**
 * The exact privileges of each role on each table. `migrate` grants them on every run, and a service refuses to start
 * with a login that has more. The signer can read only the columns that its queries name, and write nothing; management
 * can read everything except signing keys and the audit. Operators can change every table except the audit, which they
 * can only read.
 */
export const GRANTS: Readonly<Record<StoreRole, Grants>> = {
  ori_signer: {
    api_keys: { select: ['hash', 'kind', 'disabled_at', 'expires_at'] },
    interns: { select: ['id', 'workspace_id', 'answer_keys'] },
    members: { select: ['workspace_id', 'user_id', 'removed_at'] },
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
        'kek',
      ],
    },
    switches: { select: true },
    user_subjects: { select: ['issuer', 'subject', 'user_id'] },
    users: { select: ['id', 'disabled_at', 'sessions_valid_from'] },
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
    guardrails: WHOLE,
    idempotency_keys: WHOLE,
    intern_icons: { select: true },
    interns: { select: true },
    members: { select: true, insert: true, update: ['removed_at'] },
    organizations: { select: true },
    spent_dpop_proofs: { select: true, insert: true, update: true, delete: true },
    switches: { select: true },
    user_subjects: { select: true },
    users: { select: true },
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
    guardrails: WHOLE,
    idempotency_keys: WHOLE,
    intern_icons: WHOLE,
    interns: WHOLE,
    members: WHOLE,
    organizations: WHOLE,
    signing_keys: WHOLE,
    switches: WHOLE,
    user_subjects: WHOLE,
    users: WHOLE,
    workspaces: WHOLE,
  },
  ori_auditor: { admin_audit: { select: true } },
};

const grantOf = (role: StoreRole, table: string): TableGrant | undefined => GRANTS[role][table];

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
