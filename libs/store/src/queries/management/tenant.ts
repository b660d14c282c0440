import { type ExpressionBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../../database.ts';
import type { Schema } from '../../schema.ts';

/** The tenant of a transaction, which sees only the rows of this tenant (row-level security). */
export interface Tenant {
  /** The account: its BYOK credentials, guardrails, keys and members are visible. */
  readonly organizationId?: string;
  /** The workspaces whose interns are visible. */
  readonly workspaceIds?: readonly string[];
  /** If set, only this intern is visible. */
  readonly internId?: string | undefined;
  /** The presented credential: the only one that can be looked up before its tenant is known. */
  readonly apiKeyHash?: string;
  readonly issuer?: string;
  readonly subject?: string;
  /** The actor of changes, for the audit of administration. */
  readonly actor?: string;
}

/** Runs `work` in one transaction that sees the tenant's rows only. */
export function asTenant<Result>(
  db: Database,
  tenant: Tenant,
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return db.kysely.transaction().execute(async (trx) => {
    await sql`
      select set_config('ori.organization_id', ${tenant.organizationId ?? ''}, true),
        set_config('ori.workspace_ids', ${(tenant.workspaceIds ?? []).join(',')}, true),
        set_config('ori.intern_id', ${tenant.internId ?? ''}, true),
        set_config('ori.api_key_hash', ${tenant.apiKeyHash ?? ''}, true),
        set_config('ori.issuer', ${tenant.issuer ?? ''}, true),
        set_config('ori.subject', ${tenant.subject ?? ''}, true),
        set_config('ori.actor', ${tenant.actor ?? ''}, true)`.execute(trx);
    return await work(trx);
  });
}

/** An account: a management key has access to all of it. */
export interface Account {
  readonly organizationId: string;
  readonly actor?: string;
}

/** The tables whose rows belong to an account. */
type Owned = 'byok_credentials' | 'guardrails' | 'guardrail_key_assignments' | 'guardrail_member_assignments';

/** The condition of every query of a table whose rows belong to an account. */
export const ofAccount =
  ({ organizationId }: Account) =>
  <Table extends Owned>(eb: ExpressionBuilder<Schema, Table>) =>
    eb(sql.ref<string>('organization_id'), '=', organizationId);
