import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { type Account, asTenant, inTransaction } from '@ori/store/tenant';
import { sql, type Transaction } from 'kysely';
import { Refusal } from '../refusal.ts';

/** Any constant works if every version of this code uses the same one. */
const KEY_LOCK = 7_163_094_502_118_235n;
/** How many expired keys a request deletes, so that an account's keys do not accumulate. */
const DELETED_AT_ONCE = 100;
/** The maximum total size of an account's answers of 24 hours. Requests at the same time may exceed it by their own. */
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * Does the work for a key once in 24 hours, and keeps the sealed answer that it returns, in one transaction. For a used
 * key, returns the stored answer. Work that throws stores nothing.
 *
 * @throws Refusal `key_in_use` while another request with the key is in progress; `too_many_answers` if the account's
 *   answers of the last 24 hours would exceed 64 MiB
 */
export function once(
  db: Database,
  account: Account,
  keyHash: string,
  work: (within: Database) => Promise<string>,
): Promise<string> {
  const { organizationId } = account;
  return inTransaction(db, async (trx) => {
    const within: Database = { ...db, kysely: trx };
    const found = await asTenant(within, account, () => take(trx, organizationId, keyHash));
    if (found !== undefined) return found;
    const sealed = await work(within);
    await asTenant(within, account, () => keep(trx, organizationId, keyHash, sealed));
    return sealed;
  });
}

async function take(
  trx: Transaction<Schema>,
  organizationId: string,
  keyHash: string,
): Promise<string | undefined> {
  const { rows: locks } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${keyHash}`}, ${sql.lit(KEY_LOCK)})) as taken`.execute(
    trx,
  );
  if (locks[0]?.taken !== true) throw new Refusal('key_in_use');
  const { rows } = await sql<{ sealed: string }>`
    select sealed_answer as sealed from idempotency_keys
    where organization_id = ${organizationId} and key_hash = ${keyHash}
      and created_at > now() - interval '24 hours'`.execute(trx);
  return rows[0]?.sealed;
}

async function keep(
  trx: Transaction<Schema>,
  organizationId: string,
  keyHash: string,
  sealed: string,
): Promise<void> {
  await sql`
    delete from idempotency_keys where organization_id = ${organizationId} and key_hash = any (array(
      select key_hash from idempotency_keys
      where organization_id = ${organizationId} and created_at <= now() - interval '24 hours'
      order by created_at limit ${DELETED_AT_ONCE} for update skip locked) || ${keyHash}::text)`.execute(trx);
  await sql`
    insert into idempotency_keys (organization_id, key_hash, sealed_answer)
    values (${organizationId}, ${keyHash}, ${sealed})`.execute(trx);
  const { rows } = await sql<{ bytes: string }>`
    select sum(octet_length(sealed_answer)) as bytes from idempotency_keys
    where organization_id = ${organizationId} and created_at > now() - interval '24 hours'`.execute(trx);
  if (Number(rows[0]?.bytes) > BYTES_MAX) throw new Refusal('too_many_answers');
}
