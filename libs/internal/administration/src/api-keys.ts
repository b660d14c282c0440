import type { Handle } from '@ori/store/database';
import { type RawBuilder, sql } from 'kysely';
import { changeRow } from './change-row.ts';

/**
 * Refuses the key from the next request on. Only an operator enables it again, or with `byAccount` the account too.
 *
 * @throws AdminError `not_found`
 */
export async function disableApiKey(
  db: Handle,
  { hash, byAccount = false }: { readonly hash: string; readonly byAccount?: boolean },
): Promise<void> {
  const mark = sql`disabled_by_operator = disabled_by_operator or ${!byAccount}`;
  const marks = sql`disabled_at = coalesce(disabled_at, now()), ${mark}`;
  await changeKey(db, hash, sql`update api_keys set ${marks}, updated_at = now()`);
}

/** @throws AdminError `not_found` */
export async function enableApiKey(db: Handle, { hash }: { readonly hash: string }): Promise<void> {
  const marks = sql`disabled_at = null, disabled_by_operator = false`;
  await changeKey(db, hash, sql`update api_keys set ${marks}, updated_at = now()`);
}

/** The hashes of the keys that a management key created. */
export async function keysCreatedBy(db: Handle, { hash }: { readonly hash: string }): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    select hash from api_keys where created_by_key = ${hash}`.execute(db.kysely);
  return rows.map((row) => row.hash);
}

/** Deletes its guardrail assignment too. Restrictions of provider credentials to the key stay, and fit no other key. */
export async function deleteApiKey(db: Handle, { hash }: { readonly hash: string }): Promise<void> {
  await changeKey(db, hash, sql`delete from api_keys`);
}

const changeKey = (db: Handle, hash: string, change: RawBuilder<unknown>) =>
  changeRow(db, 'such API key', sql`${change} where hash = ${hash}`);
