import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import type { Selectable, Updateable } from 'kysely';
import type { Database } from '../database.ts';
import { failedWith } from '../queries/sql-state.ts';
import { type Account, asTenant, ofAccount, whileLocked, workspaceExists } from '../queries/tenant.ts';
import type { ByokCredentialsTable } from '../schema-management.ts';
import { translateConstraints } from '../writes/admin-error.ts';

export type CredentialRow = Selectable<ByokCredentialsTable>;
type Settable = Updateable<ByokCredentialsTable>;
/** The columns that a change sets; undefined ones keep their value. */
type CredentialColumns = { readonly [Column in keyof Settable]?: Settable[Column] | undefined };

/**
 * A credential of the account, in a workspace that still exists.
 *
 * @throws StoreUnavailable `contended` if it is to be locked and another change of the row is in progress
 */
export async function findCredential(
  db: Database,
  account: Account,
  id: string,
): Promise<CredentialRow | undefined> {
  try {
    return await asTenant(db, account, (trx) =>
      trx
        .selectFrom('byok_credentials')
        .selectAll()
        .where(ofAccount(account))
        .where('id', '=', id)
        .where(workspaceExists)
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
 * Changes one credential under its row lock: `decide` gets the stored row and returns the columns to set; if it throws,
 * nothing changes. Undefined if there is no such credential.
 *
 * @throws StoreUnavailable `contended` while another change of the row is in progress; AdminError `invalid_input` if it
 *   enables what an operator disabled
 */
export function changeCredential(
  db: Database,
  account: Account,
  id: string,
  decide: (stored: CredentialRow) => Promise<CredentialColumns>,
): Promise<CredentialRow | undefined> {
  return whileLocked(db, async (within) => {
    const stored = await findCredential(within, account, id);
    if (stored === undefined) return undefined;
    const columns = await decide(stored);
    if (Object.values(columns).every((value) => value === undefined)) return stored;
    return await translateConstraints('credential', () =>
      within.kysely
        .updateTable('byok_credentials')
        .set(columns as Settable)
        .where(ofAccount(account))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  });
}
