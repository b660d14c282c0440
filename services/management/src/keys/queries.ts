import {
  type CreatedApiKey,
  createApiKey,
  deleteApiKey,
  type NewApiKey,
  updateApiKey,
} from '@ori/store/admin/api-keys';
import type { Database } from '@ori/store/database';
import type { ApiKeysTable, Schema } from '@ori/store/schema';
import { type Account, asTenant } from '@ori/store/tenant';
import { type Selectable, sql, type Transaction } from 'kysely';
import { type Page, type PageRequest, readPage } from '../read-page.ts';
import { chosenWorkspace } from '../workspaces/chosen-workspace.ts';

/** An ordinary key: of a workspace, or of one intern in it. */
export type ApiKeyRow = Selectable<ApiKeysTable> & { readonly workspace_id: string };

/** The account's ordinary keys, in workspaces that are not deleted. */
function keysOf(trx: Transaction<Schema>, { organizationId }: Account) {
  return trx
    .selectFrom('api_keys as k')
    .selectAll('k')
    .$narrowType<{ workspace_id: string }>()
    .where('k.organization_id', '=', organizationId)
    .where('k.kind', '=', 'api')
    .where(
      sql<boolean>`exists (select from workspaces w where w.id = k.workspace_id and w.deleted_at is null)`,
    );
}

/** A page of the keys of one workspace, newest first. */
export function listKeys(
  db: Database,
  account: Account,
  {
    workspaceId,
    includeDisabled,
    ...page
  }: PageRequest & { workspaceId?: string | undefined; includeDisabled: boolean },
): Promise<Page<ApiKeyRow>> {
  return asTenant(db, account, async (trx) => {
    const workspace = await chosenWorkspace(trx, account, workspaceId);
    const count = sql.ref(includeDisabled ? 'keys' : 'enabled_keys');
    return readPage(trx, {
      total: sql`coalesce((select ${count} from workspace_tallies where workspace_id = ${workspace}), 0)`,
      rows: sql<ApiKeyRow & { readonly id: string }>`
        select hash as id, api_keys.* from api_keys
        where organization_id = ${account.organizationId} and kind = 'api' and workspace_id = ${workspace}
          ${includeDisabled ? sql`` : sql`and disabled_at is null`}
        order by created_at desc, hash offset ${page.offset} limit ${page.limit}`,
      order: sql`page.created_at desc, page.hash`,
    });
  });
}

export function findKey(db: Database, account: Account, hash: string): Promise<ApiKeyRow | undefined> {
  return asTenant(db, account, (trx) =>
    keysOf(trx, account)
      .where('k.hash', '=', hash)
      .$if(db.locksRecords === true, (query) => query.forUpdate('k'))
      .executeTakeFirst(),
  );
}

/** @throws AdminError `invalid_input` if the creator has no access to the workspace */
export function createKey(
  db: Database,
  account: Account,
  {
    workspaceId,
    ...wanted
  }: Pick<NewApiKey, 'name' | 'expiresAt' | 'createdBy' | 'createdByKey'> & {
    readonly workspaceId: string | undefined;
  },
): Promise<{ readonly row: ApiKeyRow; readonly made: CreatedApiKey }> {
  return asTenant(db, account, async (trx) => {
    const workspace = await chosenWorkspace(trx, account, workspaceId);
    const made = await createApiKey({ kysely: trx }, { kind: 'api', workspaceId: workspace, ...wanted });
    const row = await keysOf(trx, account).where('k.hash', '=', made.hash).executeTakeFirstOrThrow();
    return { row, made };
  });
}

/** Sets what is given; without any, `updated_at` is unchanged too. @throws AdminError `not_found` */
export function changeKey(
  db: Database,
  account: Account,
  hash: string,
  change: { readonly name?: string | undefined; readonly disabled?: boolean | undefined },
): Promise<ApiKeyRow | undefined> {
  return asTenant(db, account, async (trx) => {
    const found = await keysOf(trx, account).where('k.hash', '=', hash).executeTakeFirst();
    if (found === undefined || Object.values(change).every((value) => value === undefined)) return found;
    await updateApiKey({ kysely: trx }, { hash, organizationId: account.organizationId, ...change });
    return await keysOf(trx, account).where('k.hash', '=', hash).executeTakeFirstOrThrow();
  });
}

/** Whether it existed. */
export function deleteKey(db: Database, account: Account, hash: string): Promise<boolean> {
  return asTenant(db, account, async (trx) => {
    const found = await keysOf(trx, account).where('k.hash', '=', hash).executeTakeFirst();
    if (found === undefined) return false;
    await deleteApiKey({ kysely: trx }, { hash, organizationId: account.organizationId });
    return true;
  });
}

/** The key that was presented; undefined if it was deleted meanwhile. */
export function findOwnKey(
  db: Database,
  { hash }: { readonly hash: string },
): Promise<Selectable<ApiKeysTable> | undefined> {
  return asTenant(db, { apiKeyHash: hash }, (trx) =>
    trx.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst(),
  );
}
