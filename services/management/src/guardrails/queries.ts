import { randomUUID } from 'node:crypto';
import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { type Account, asTenant, asWriter, ofAccount, workspaceExists } from '@ori/store/tenant';
import { translateConstraints } from '@ori/store/writes/admin-error';
import { type Insertable, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import { type Page, type PageRequest, readPage } from '../read-page.ts';
import { chosenWorkspace } from '../workspaces/queries.ts';

type GuardrailsTable = Schema['guardrails'];

export type GuardrailRow = Selectable<GuardrailsTable>;

type Settable = Omit<GuardrailRow, 'id' | 'organization_id' | 'workspace_id' | 'created_at' | 'updated_at'>;

/** The columns that a request sets; undefined ones keep their value. */
export type GuardrailColumns = { readonly [Column in keyof Settable]?: Settable[Column] | undefined };

/** A page of the guardrails of one workspace, newest first. */
export function listGuardrails(
  db: Database,
  account: Account,
  { workspaceId, ...page }: PageRequest & { workspaceId?: string | undefined },
): Promise<Page<GuardrailRow>> {
  return asTenant(db, account, async (trx) => {
    const workspace = await chosenWorkspace(trx, account, workspaceId);
    const matches = sql`
      from guardrails where organization_id = ${account.organizationId} and workspace_id = ${workspace}`;
    return readPage<GuardrailRow>(trx, { matches, order: sql`created_at desc, id`, ...page });
  });
}

/** @throws AdminError `invalid_input` if its lists and filters are too large */
export function createGuardrail(
  db: Database,
  account: Account,
  workspaceId: string | undefined,
  columns: GuardrailColumns & { readonly name: string },
): Promise<GuardrailRow> {
  return asWriter(db, account, async (trx) => {
    const workspace = await chosenWorkspace(trx, account, workspaceId);
    const values = {
      ...asStored(columns),
      name: columns.name,
      id: randomUUID(),
      organization_id: account.organizationId,
      workspace_id: workspace,
    } as Insertable<GuardrailsTable>;
    return await translateConstraints('guardrail', () =>
      trx.insertInto('guardrails').values(values).returningAll().executeTakeFirstOrThrow(),
    );
  });
}

export function findGuardrail(db: Database, account: Account, id: string): Promise<GuardrailRow | undefined> {
  const find = (trx: Transaction<Schema>) =>
    guardrailOf(trx, account, id)
      .selectAll()
      .$if(db.locksRecords === true, (query) => query.forUpdate())
      .executeTakeFirst();
  return db.locksRecords ? asWriter(db, account, find) : asTenant(db, account, find);
}

/** Sets the given columns; without any, `updated_at` is unchanged too. @throws AdminError as `createGuardrail` */
export function changeGuardrail(
  db: Database,
  account: Account,
  id: string,
  columns: GuardrailColumns,
): Promise<GuardrailRow | undefined> {
  const stored = asStored(columns);
  if (Object.keys(stored).length === 0) return findGuardrail(db, account, id);
  return asWriter(db, account, (trx) =>
    translateConstraints('guardrail', () =>
      trx
        .updateTable('guardrails')
        .set({ ...stored, updated_at: sql`now()` })
        .where(ofAccount(account))
        .where('id', '=', id)
        .where(workspaceExists)
        .returningAll()
        .executeTakeFirst(),
    ),
  );
}

/** How many assignments one statement deletes: a fraction of a second. */
const DELETED_AT_ONCE = 5000;

/** Deletes a guardrail with its assignments. Returns whether it existed. */
export function deleteGuardrail(db: Database, account: Account, id: string): Promise<boolean> {
  return asWriter(db, account, async (trx) => {
    if ((await guardrailOf(trx, account, id).select('id').executeTakeFirst()) === undefined) return false;
    for (const table of ['guardrail_key_assignments', 'guardrail_member_assignments'] as const) {
      // Many would take a cascade longer than a statement may take.
      for (let deleted = DELETED_AT_ONCE; deleted === DELETED_AT_ONCE; ) {
        const { rows } = await sql`
          delete from ${sql.table(table)} where id = any (array(
            select id from ${sql.table(table)} where guardrail_id = ${id} limit ${DELETED_AT_ONCE})) returning 1`.execute(
          trx,
        );
        deleted = rows.length;
      }
    }
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
