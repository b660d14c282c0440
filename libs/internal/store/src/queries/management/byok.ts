import { type InsertObject, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { Database } from '../../database.ts';
import type { Schema } from '../../schema.ts';
import type { ByokCredentialsTable } from '../../schema-management.ts';
import { StoreUnavailable } from '../../store-unavailable.ts';
import type { Provider } from '../../vocabulary.ts';
import { judged } from '../admin/admin-error.ts';
import { createCredential, deleteCredential } from '../admin/byok.ts';
import { type Page, type PageRequest, readPage } from './page.ts';
import { failedWith } from './sql-state.ts';
import { type Account, asTenant, ofAccount } from './tenant.ts';
import { findWorkspace, workspaceExists } from './workspaces.ts';

export type CredentialRow = Selectable<ByokCredentialsTable>;
/** The columns that a change sets; undefined ones keep their value. */
type CredentialColumns = {
  readonly [Column in keyof Updateable<ByokCredentialsTable>]?:
    | Updateable<ByokCredentialsTable>[Column]
    | undefined;
};

/**
 * A page of the credentials of one workspace (by default the account's default one), including those for every
 * workspace. Undefined if the account has no such workspace.
 */
export function listCredentials(
  db: Database,
  account: Account,
  {
    offset,
    limit,
    workspaceId,
    provider,
  }: PageRequest & { workspaceId?: string | undefined; provider?: Provider | undefined },
): Promise<Page<CredentialRow> | undefined> {
  return asTenant(db, account, async (trx) => {
    const workspace = await findWorkspace(trx, account, workspaceId);
    if (workspace === undefined) return undefined;
    const matches = sql`
      from byok_credentials
      where organization_id = ${account.organizationId} and (workspace_id = ${workspace} or workspace_id is null)
        ${provider === undefined ? sql`` : sql`and provider = ${provider}`}`;
    return readPage(trx, {
      total: sql`(select count(*) ${matches})`,
      rows: sql<CredentialRow>`
        select * ${matches} order by sort_order, created_at, id offset ${offset} limit ${limit}`,
      order: sql`page.sort_order, page.created_at, page.id`,
    });
  });
}

/** A credential of the account, in a workspace that still exists. */
const credentialOf = (trx: Transaction<Schema>, account: Account, id: string) =>
  trx.selectFrom('byok_credentials').where(ofAccount(account)).where('id', '=', id).where(workspaceExists);

/** @throws StoreUnavailable `contended` if it is to be locked and another change of the row is in progress */
export async function findCredential(
  db: Database,
  account: Account,
  id: string,
): Promise<CredentialRow | undefined> {
  try {
    return await asTenant(db, account, (trx) =>
      credentialOf(trx, account, id)
        .selectAll()
        .$if(db.locksRecords === true, (query) => query.forUpdate().noWait())
        .executeTakeFirst(),
    );
  } catch (error) {
    if (failedWith(error, 'lock_not_available')) {
      throw new StoreUnavailable('contended', 'The credential is being changed.', { cause: error });
    }
    throw error;
  }
}

/**
 * Stores a credential for one workspace (by default the account's default one), or with null for every workspace.
 * Undefined if the account has no such workspace.
 */
export function addCredential(
  db: Database,
  account: Account,
  workspaceId: string | null | undefined,
  columns: Omit<InsertObject<Schema, 'byok_credentials'>, 'organization_id' | 'workspace_id'>,
): Promise<CredentialRow | undefined> {
  return asTenant(db, account, async (trx) => {
    const workspace = workspaceId === null ? null : await findWorkspace(trx, account, workspaceId);
    if (workspace === undefined) return undefined;
    const place = { organization_id: account.organizationId, workspace_id: workspace };
    return await createCredential({ kysely: trx }, { ...columns, ...place });
  });
}

/** Deletes a credential with its key. Returns whether it existed. */
export function removeCredential(db: Database, account: Account, id: string): Promise<boolean> {
  return asTenant(db, account, async (trx) => {
    const found = await credentialOf(trx, account, id).select('id').executeTakeFirst();
    if (found === undefined) return false;
    await deleteCredential({ kysely: trx }, { id, organizationId: account.organizationId });
    return true;
  });
}

type ChangeOutcome = { readonly changed: CredentialRow } | 'absent' | 'busy';

/**
 * Changes one credential under its row lock: `decide` gets the stored row and returns the columns to set; if it throws,
 * nothing changes. Returns `busy` while another change of the row is in progress.
 *
 * @throws AdminError `invalid_input` if it enables what an operator disabled
 */
export async function changeCredential(
  db: Database,
  account: Account,
  id: string,
  decide: (stored: CredentialRow) => Promise<CredentialColumns>,
): Promise<ChangeOutcome> {
  try {
    return await asTenant(db, account, async (trx) => {
      const stored = await credentialOf(trx, account, id).selectAll().forUpdate().noWait().executeTakeFirst();
      if (stored === undefined) return 'absent';
      const columns = await decide(stored);
      if (Object.values(columns).every((value) => value === undefined)) return { changed: stored };
      const changed = await judged('credential', () =>
        trx
          .updateTable('byok_credentials')
          .set(columns as Updateable<ByokCredentialsTable>)
          .where(ofAccount(account))
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return { changed };
    });
  } catch (error) {
    if (failedWith(error, 'lock_not_available')) return 'busy';
    throw error;
  }
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
