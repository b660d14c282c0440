import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { type ExpressionBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';

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

/**
 * Runs `work` in one transaction that sees the tenant's rows only: in that of `db`, if it is one. A transaction
 * of its own is repeated once if concurrent changes kept it from completing.
 *
 * @throws StoreUnavailable `contended` if the repetition fails too
 */
export function asTenant<Result>(
  db: Database,
  tenant: Tenant,
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  const run = async (trx: Transaction<Schema>) => {
    await become(trx, tenant);
    return await work(trx);
  };
  return inTransaction(db, run);
}

/** The transaction `db`, or a new one that is repeated once if concurrent changes kept it from completing. */
export async function inTransaction<Result>(
  db: Database,
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  if (db.kysely.isTransaction) return await work(db.kysely as Transaction<Schema>);
  try {
    return await db.transaction(work);
  } catch (error) {
    if (!(error instanceof StoreUnavailable && error.code === 'contended')) throw error;
    return await db.transaction(work);
  }
}

/** Runs work in one transaction, in which reading a record locks it. */
export function whileLocked<Result>(
  db: Database,
  work: (within: Database) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, (trx) => work({ ...db, kysely: trx, locksRecords: true }));
}

/**
 * Names the tenant of a transaction, instead of the one that it had.
 *
 * Each statement is planned for its own values: a generic plan for all tenants would suit neither one with few rows nor
 * one with many.
 */
export async function become(trx: Transaction<Schema>, tenant: Tenant): Promise<void> {
  await sql`
    select set_config('ori.organization_id', ${tenant.organizationId ?? ''}, true),
      set_config('ori.workspace_ids', ${(tenant.workspaceIds ?? []).join(',')}, true),
      set_config('ori.intern_id', ${tenant.internId ?? ''}, true),
      set_config('ori.api_key_hash', ${tenant.apiKeyHash ?? ''}, true),
      set_config('ori.issuer', ${tenant.issuer ?? ''}, true),
      set_config('ori.subject', ${tenant.subject ?? ''}, true),
      set_config('ori.actor', ${tenant.actor ?? ''}, true),
      set_config('plan_cache_mode', 'force_custom_plan', true)`.execute(trx);
}

/** An account: a management key has access to all of it. */
export interface Account {
  readonly organizationId: string;
  readonly actor?: string;
}

/** Any constant works if every version of this code uses the same one. */
const WRITERS_LOCK = 716_309_450;

/**
 * As `asTenant`, for changes of guardrails and their assignments: those of one account are serialized. Each changes
 * many rows, so two concurrent ones could deadlock.
 */
export function asWriter<Result>(
  db: Database,
  account: Account,
  work: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return asTenant(db, account, async (trx) => {
    await sql`
      select pg_advisory_xact_lock(${sql.lit(WRITERS_LOCK)}, hashtext(${account.organizationId}))`.execute(
      trx,
    );
    return await work(trx);
  });
}

/** The condition of every query of a table whose rows belong to an account. */
export const ofAccount =
  ({ organizationId }: Account) =>
  <Table extends 'api_keys' | 'byok_credentials' | 'guardrails' | 'workspaces'>(
    eb: ExpressionBuilder<Schema, Table>,
  ) =>
    eb(sql.ref<string>('organization_id'), '=', organizationId);

/** Whether the workspace of a row is not deleted. A row without a workspace belongs to every workspace. */
export const workspaceExists = sql<SqlBool>`(workspace_id is null or exists (
  select from workspaces w where w.id = workspace_id and w.deleted_at is null))`;
