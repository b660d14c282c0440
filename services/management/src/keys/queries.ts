import type { Database } from '@ori/store/database';
import type { ApiKeysTable, Schema } from '@ori/store/schema';
import { type Account, asTenant, ofAccount, workspaceExists } from '@ori/store/tenant';
import { translateConstraints } from '@ori/store/writes/admin-error';
import { type CreatedApiKey, createApiKey, type NewApiKey } from '@ori/store/writes/api-keys';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import { found } from '../callers/caller.ts';
import { type Page, type PageRequest, readPage } from '../read-page.ts';
import { chosenWorkspace } from '../workspaces/queries.ts';

/** An ordinary key: of a workspace, or of one intern in it. */
export type ApiKeyRow = Selectable<ApiKeysTable> & { readonly workspace_id: string };

/** Whether a row is an ordinary key of the account, in a workspace that is not deleted. */
const ordinaryOf = (account: Account) => (eb: ExpressionBuilder<Schema, 'api_keys'>) =>
  eb.and([ofAccount(account)(eb), eb('kind', '=', 'api'), workspaceExists]);

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
    const matches = sql`
      from api_keys
      where organization_id = ${account.organizationId} and kind = 'api' and workspace_id = ${workspace}
        ${includeDisabled ? sql`` : sql`and disabled_at is null`}`;
    return readPage<ApiKeyRow & { readonly id: string }>(trx, {
      columns: sql`hash as id, api_keys.*`,
      matches,
      order: sql`created_at desc, hash`,
      ...page,
    });
  });
}

export function findKey(db: Database, account: Account, hash: string): Promise<ApiKeyRow | undefined> {
  return asTenant(db, account, (trx) =>
    trx
      .selectFrom('api_keys')
      .selectAll()
      .$narrowType<{ workspace_id: string }>()
      .where(ordinaryOf(account))
      .where('hash', '=', hash)
      .$if(db.locksRecords === true, (query) => query.forUpdate())
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
    const row = await findKey({ ...db, kysely: trx }, account, made.hash);
    return { row: found(row), made };
  });
}

/**
 * Sets what is given; without any, `updated_at` is unchanged too.
 *
 * @throws AdminError `invalid_input` if it enables what an operator disabled
 */
export function changeKey(
  db: Database,
  account: Account,
  hash: string,
  { name, disabled }: { readonly name?: string | undefined; readonly disabled?: boolean | undefined },
): Promise<ApiKeyRow | undefined> {
  if (name === undefined && disabled === undefined) return findKey(db, account, hash);
  const disabledAt = disabled ? sql<Date>`coalesce(disabled_at, now())` : null;
  return asTenant(db, account, (trx) =>
    translateConstraints('API key', () =>
      trx
        .updateTable('api_keys')
        .set({ name, disabled_at: disabled === undefined ? undefined : disabledAt, updated_at: sql`now()` })
        .where(ordinaryOf(account))
        .where('hash', '=', hash)
        .returningAll()
        .$narrowType<{ workspace_id: string }>()
        .executeTakeFirst(),
    ),
  );
}

/**
 * Deletes its guardrail assignment too. Restrictions of provider credentials to the key stay, and fit no other key.
 * Returns whether it existed.
 */
export function deleteKey(db: Database, account: Account, hash: string): Promise<boolean> {
  return asTenant(db, account, async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom('api_keys')
      .where(ordinaryOf(account))
      .where('hash', '=', hash)
      .executeTakeFirst();
    return numDeletedRows > 0n;
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
