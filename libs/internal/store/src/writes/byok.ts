import { type InsertObject, type Selectable, sql } from 'kysely';
import type { Handle } from '../database.ts';
import type { Schema } from '../schema.ts';
import type { ByokCredentialsTable } from '../schema-management.ts';
import { translateConstraints } from './admin-error.ts';
import { changeRow } from './change-row.ts';

/**
 * Stores a provider credential whose key is sealed to the id of the row. `applyUpdate` of `@ori/store/byok/apply-update` has the rules of
 * its fields.
 */
export async function createCredential(
  db: Handle,
  credential: InsertObject<Schema, 'byok_credentials'>,
): Promise<Selectable<ByokCredentialsTable>> {
  return await translateConstraints('BYOK credential', () =>
    db.kysely.insertInto('byok_credentials').values(credential).returningAll().executeTakeFirstOrThrow(),
  );
}

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
