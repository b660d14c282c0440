import { sql, type Transaction } from 'kysely';
import type { Database } from '../../database.ts';
import type { Schema } from '../../schema.ts';
import { type Account, asTenant, inTransaction } from './tenant.ts';

/** Any constant works if every version of this code uses the same one. */
const KEY_LOCK = 7_163_094_502_118_235n;
/** How many expired keys a request deletes, so that an account's keys do not accumulate. */
const DELETED_AT_ONCE = 100;

/** `first`: the work was done now. */
export interface OnceAnswer {
  readonly sealed: string;
  readonly isFirst: boolean;
}

/**
 * Does the work for a key once in 24 hours, and keeps the sealed answer that it returns, in one transaction. For a key
 * that was used, returns the answer that was kept; `running` while another request with the key is in progress. Nothing
 * is kept of work that throws.
 */
export function once(
  db: Database,
  account: Account,
  keyHash: string,
  work: (within: Database) => Promise<string>,
): Promise<OnceAnswer | 'running'> {
  const { organizationId } = account;
  return inTransaction(db, async (trx) => {
    const within: Database = { ...db, kysely: trx };
    const found = await asTenant(within, account, () => take(trx, organizationId, keyHash));
    if (found !== undefined) return found;
    const sealed = await work(within);
    await asTenant(within, account, async () => {
      await sql`
        insert into idempotency_keys (organization_id, key_hash, sealed_answer)
        values (${organizationId}, ${keyHash}, ${sealed})
        on conflict (organization_id, key_hash) do update set sealed_answer = excluded.sealed_answer, created_at = now()`.execute(
        trx,
      );
    });
    return { sealed, isFirst: true };
  });
}

async function take(
  trx: Transaction<Schema>,
  organizationId: string,
  keyHash: string,
): Promise<OnceAnswer | 'running' | undefined> {
  const { rows: locks } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${keyHash}`}, ${sql.lit(KEY_LOCK)})) as taken`.execute(
    trx,
  );
  if (locks[0]?.taken !== true) return 'running';
  await sql`
    delete from idempotency_keys k using (
      select organization_id, key_hash from idempotency_keys
      where organization_id = ${organizationId} and created_at <= now() - interval '24 hours'
      order by created_at limit ${DELETED_AT_ONCE} for update skip locked
    ) expired
    where k.organization_id = expired.organization_id and k.key_hash = expired.key_hash`.execute(trx);
  const { rows } = await sql<{ sealed: string }>`
    select sealed_answer as sealed from idempotency_keys
    where organization_id = ${organizationId} and key_hash = ${keyHash}
      and created_at > now() - interval '24 hours'`.execute(trx);
  return rows[0] && { sealed: rows[0].sealed, isFirst: false };
}
