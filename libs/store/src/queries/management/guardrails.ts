import { randomUUID } from 'node:crypto';
import { type Insertable, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { Database } from '../../database.ts';
import type { Schema } from '../../schema.ts';
import type { GuardrailsTable } from '../../schema-management.ts';
import type { Page, PageRequest } from './byok.ts';
import { type Account, asTenant, ofAccount } from './tenant.ts';
import { findWorkspace, workspaceExists } from './workspaces.ts';

export type GuardrailRow = Selectable<GuardrailsTable>;

type Settable = Omit<GuardrailRow, 'id' | 'organization_id' | 'workspace_id' | 'created_at' | 'updated_at'>;

/** The columns that a request sets; undefined ones keep their value. */
export type GuardrailColumns = { readonly [Column in keyof Settable]?: Settable[Column] | undefined };

/** A page of the guardrails of one workspace, newest first. Undefined if the account has no such workspace. */
export function listGuardrails(
  db: Database,
  account: Account,
  { offset, limit, workspaceId }: PageRequest & { workspaceId?: string },
): Promise<Page<GuardrailRow> | undefined> {
  return asTenant(db, account, async (trx) => {
    const workspace = await findWorkspace(trx, account, workspaceId);
    if (workspace === undefined) return undefined;
    const matches = trx
      .selectFrom('guardrails')
      .where(ofAccount(account))
      .where('workspace_id', '=', workspace);
    const { total } = await matches
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await matches
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .offset(offset)
      .limit(limit)
      .execute();
    return { rows, total: Number(total) };
  });
}

/** Any constant works if every version of this code uses the same one. */
const GUARDRAILS_LOCK = 716_309_450;

/** The change would exceed the total size of an account's guardrails. Nothing was changed. */
export class GuardrailsTooLarge extends Error {
  override readonly name = 'GuardrailsTooLarge';
}

/**
 * Undefined if the account has no such workspace.
 *
 * @param bytesMax maximum total size of the account's guardrails, as JSON
 * @throws GuardrailsTooLarge
 */
export function createGuardrail(
  db: Database,
  account: Account,
  workspaceId: string | undefined,
  columns: GuardrailColumns & { readonly name: string },
  bytesMax: number,
): Promise<GuardrailRow | undefined> {
  return asTenant(db, account, async (trx) => {
    const workspace = await findWorkspace(trx, account, workspaceId);
    if (workspace === undefined) return undefined;
    const values = {
      ...asStored(columns),
      name: columns.name,
      id: randomUUID(),
      organization_id: account.organizationId,
      workspace_id: workspace,
    } as Insertable<GuardrailsTable>;
    const created = await trx
      .insertInto('guardrails')
      .values(values)
      .returningAll()
      .executeTakeFirstOrThrow();
    await requireRoom(trx, account, bytesMax);
    return created;
  });
}

export function findGuardrail(db: Database, account: Account, id: string): Promise<GuardrailRow | undefined> {
  return asTenant(db, account, (trx) => guardrailOf(trx, account, id).selectAll().executeTakeFirst());
}

/**
 * Sets the given columns; without any, `updated_at` is unchanged too.
 *
 * @param bytesMax as for `createGuardrail`
 * @throws GuardrailsTooLarge
 */
export function changeGuardrail(
  db: Database,
  account: Account,
  id: string,
  columns: GuardrailColumns,
  bytesMax: number,
): Promise<GuardrailRow | undefined> {
  const stored = asStored(columns);
  if (Object.keys(stored).length === 0) return findGuardrail(db, account, id);
  return asTenant(db, account, async (trx) => {
    const changed = await trx
      .updateTable('guardrails')
      .set({ ...stored, updated_at: sql`now()` })
      .where(ofAccount(account))
      .where('id', '=', id)
      .where(workspaceExists)
      .returningAll()
      .executeTakeFirst();
    if (changed !== undefined) await requireRoom(trx, account, bytesMax);
    return changed;
  });
}

/** Called after the change. The changes of one account are serialized here, so that each sees the former ones. */
async function requireRoom(trx: Transaction<Schema>, account: Account, bytesMax: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(GUARDRAILS_LOCK)}, hashtext(${account.organizationId}))`.execute(
    trx,
  );
  const { bytes } = await trx
    .selectFrom('guardrails')
    .where(ofAccount(account))
    .select(sql<number>`coalesce(sum(octet_length(to_jsonb(guardrails)::text)), 0)::int8`.as('bytes'))
    .executeTakeFirstOrThrow();
  if (Number(bytes) > bytesMax) throw new GuardrailsTooLarge(`guardrails of more than ${bytesMax} bytes`);
}

/** Deletes a guardrail with its assignments. Returns whether it existed. */
export function deleteGuardrail(db: Database, account: Account, id: string): Promise<boolean> {
  return asTenant(db, account, async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom('guardrails')
      .where(ofAccount(account))
      .where('id', '=', id)
      .where(workspaceExists)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  });
}

/** A guardrail of the account, in a workspace that still exists. */
export function guardrailOf(trx: Transaction<Schema>, account: Account, id: string) {
  return trx.selectFrom('guardrails').where(ofAccount(account)).where('id', '=', id).where(workspaceExists);
}

/** The defined columns, with the filter lists as JSON. */
function asStored(columns: GuardrailColumns): Updateable<GuardrailsTable> {
  const { content_filter_builtins: builtins, content_filters: filters, ...rest } = columns;
  const stored = { ...rest, content_filter_builtins: asJson(builtins), content_filters: asJson(filters) };
  return Object.fromEntries(Object.entries(stored).filter(([, value]) => value !== undefined));
}

function asJson(list: readonly unknown[] | null | undefined): string | null | undefined {
  return list ? JSON.stringify(list) : list;
}

/** The queries of this file that `managementQueries` includes. */
export const guardrailQueries = {
  listGuardrails,
  createGuardrail,
  findGuardrail,
  changeGuardrail,
  deleteGuardrail,
};
