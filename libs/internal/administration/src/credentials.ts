import type { Handle } from '@ori/store/database';
import { sql } from 'kysely';
import { changeRow } from './change-row.ts';

/** Only an operator enables it again, or with `byAccount` the account too. */
export async function disableCredential(
  db: Handle,
  { id, byAccount = false }: { readonly id: string; readonly byAccount?: boolean },
): Promise<void> {
  const marks = sql`disabled = true, disabled_by_operator = disabled_by_operator or ${!byAccount}`;
  await changeRow(db, `BYOK credential ${id}`, sql`update byok_credentials set ${marks} where id = ${id}`);
}

export async function deleteCredential(db: Handle, { id }: { readonly id: string }): Promise<void> {
  await changeRow(db, `BYOK credential ${id}`, sql`delete from byok_credentials where id = ${id}`);
}
