import type { CredentialRow } from '@ori/store/byok/change-credential';
import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { type Account, asTenant, ofAccount, workspaceExists } from '@ori/store/tenant';
import type { Provider } from '@ori/store/vocabulary';
import { createCredential } from '@ori/store/writes/byok';
import { type InsertObject, sql } from 'kysely';
import { type Page, type PageRequest, readPage } from '../read-page.ts';
import { chosenWorkspace } from '../workspaces/queries.ts';

/**
 * A page of the credentials of one workspace (by default the account's default one), including those for every
 * workspace.
 */
export function listCredentials(
  db: Database,
  account: Account,
  {
    workspaceId,
    provider,
    ...page
  }: PageRequest & { workspaceId?: string | undefined; provider?: Provider | undefined },
): Promise<Page<CredentialRow>> {
  return asTenant(db, account, async (trx) => {
    const workspace = await chosenWorkspace(trx, account, workspaceId);
    const matches = sql`
      from byok_credentials
      where organization_id = ${account.organizationId} and (workspace_id = ${workspace} or workspace_id is null)
        ${provider === undefined ? sql`` : sql`and provider = ${provider}`}`;
    return readPage<CredentialRow>(trx, { matches, order: sql`sort_order, created_at, id`, ...page });
  });
}

/** Stores a credential for one workspace (by default the account's default one), or with null for every workspace. */
export function addCredential(
  db: Database,
  account: Account,
  workspaceId: string | null | undefined,
  columns: Omit<InsertObject<Schema, 'byok_credentials'>, 'organization_id' | 'workspace_id'>,
): Promise<CredentialRow> {
  return asTenant(db, account, async (trx) => {
    const workspace = workspaceId === null ? null : await chosenWorkspace(trx, account, workspaceId);
    const place = { organization_id: account.organizationId, workspace_id: workspace };
    return await createCredential({ kysely: trx }, { ...columns, ...place });
  });
}

/** Deletes a credential with its key. Returns whether it existed. */
export function removeCredential(db: Database, account: Account, id: string): Promise<boolean> {
  return asTenant(db, account, async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom('byok_credentials')
      .where(ofAccount(account))
      .where('id', '=', id)
      .where(workspaceExists)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  });
}

/** Which of these API keys do not belong to the account. */
export function unknownApiKeys(db: Database, account: Account, hashes: readonly string[]): Promise<string[]> {
  return asTenant(db, account, async (trx) => {
    const rows = await trx
      .selectFrom('api_keys')
      .select('hash')
      .where('organization_id', '=', account.organizationId)
      .where('hash', 'in', hashes.length === 0 ? [''] : [...hashes])
      .execute();
    const known = new Set(rows.map((row) => row.hash));
    return hashes.filter((hash) => !known.has(hash));
  });
}
