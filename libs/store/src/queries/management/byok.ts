import type { Selectable, Updateable } from 'kysely';
import type { Database } from '../../database.ts';
import type { ByokCredentialsTable } from '../../schema-management.ts';
import type { Provider } from '../../vocabulary.ts';
import { failedWith } from './sql-state.ts';
import { type Account, asTenant, ofAccount } from './tenant.ts';
import { findWorkspace, workspaceExists } from './workspaces.ts';

export type CredentialRow = Selectable<ByokCredentialsTable>;
/** The columns that a change sets; undefined ones keep their value. */
export type CredentialColumns = {
  readonly [Column in keyof Updateable<ByokCredentialsTable>]?:
    | Updateable<ByokCredentialsTable>[Column]
    | undefined;
};

export interface Page<Row> {
  readonly rows: Row[];
  /** The number of matches on all pages. */
  readonly total: number;
}

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

/**
 * A page of the credentials of one workspace (by default the account's default one), including those for every
 * workspace. Undefined if the account has no such workspace.
 */
export function listCredentials(
  db: Database,
  account: Account,
  { offset, limit, workspaceId, provider }: PageRequest & { workspaceId?: string; provider?: Provider },
): Promise<Page<CredentialRow> | undefined> {
  return asTenant(db, account, async (trx) => {
    const workspace = await findWorkspace(trx, account, workspaceId);
    if (workspace === undefined) return undefined;
    const matches = trx
      .selectFrom('byok_credentials')
      .where(ofAccount(account))
      .where((eb) => eb.or([eb('workspace_id', '=', workspace), eb('workspace_id', 'is', null)]))
      .where((eb) => (provider === undefined ? eb.lit(true) : eb('provider', '=', provider)));
    const { total } = await matches
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await matches
      .selectAll()
      .orderBy('sort_order')
      .orderBy('created_at')
      .orderBy('id')
      .offset(offset)
      .limit(limit)
      .execute();
    return { rows, total: Number(total) };
  });
}

export type ChangeOutcome = { readonly changed: CredentialRow } | 'absent' | 'busy';

/**
 * Changes one credential under its row lock: `decide` gets the stored row and returns the columns to set; if it throws,
 * nothing changes. Returns `busy` while another change of the row is in progress.
 */
export async function changeCredential(
  db: Database,
  account: Account,
  id: string,
  decide: (stored: CredentialRow) => Promise<CredentialColumns>,
): Promise<ChangeOutcome> {
  try {
    return await asTenant(db, account, async (trx) => {
      const stored = await trx
        .selectFrom('byok_credentials')
        .selectAll()
        .where(ofAccount(account))
        .where('id', '=', id)
        .where(workspaceExists)
        .forUpdate()
        .noWait()
        .executeTakeFirst();
      if (stored === undefined) return 'absent';
      const columns = await decide(stored);
      if (Object.values(columns).every((value) => value === undefined)) return { changed: stored };
      const changed = await trx
        .updateTable('byok_credentials')
        .set(columns as Updateable<ByokCredentialsTable>)
        .where(ofAccount(account))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
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

/** The queries of this file that `managementQueries` includes. */
export const credentialQueries = { listCredentials, changeCredential, unknownApiKeys };
