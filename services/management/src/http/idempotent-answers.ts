import { createHash } from 'node:crypto';
import type { KekRing } from '@ori/sealing/kek-ring';
import { open, type SealContext, seal } from '@ori/sealing/seal';
import { SealingError } from '@ori/sealing/sealing-error';
import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { type Account, asTenant, inTransaction } from '@ori/store/tenant';
import { sql, type Transaction } from 'kysely';
import type { Principal } from '../callers/caller.ts';
import { Refusal } from '../refusal.ts';
import type { Call, Operation, Services } from './operation.ts';

/** Printable ASCII, as a header value or as the string of a structured field. */
const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

export interface Executed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
}

/** An answer as it is sealed, with the digest of the request that it belongs to. */
interface Kept extends Omit<Executed, 'pieces'> {
  readonly content: string;
  readonly body: string;
}

/**
 * Executes a request with an `Idempotency-Key` once (IETF draft-ietf-httpapi-idempotency-key-header).
 *
 * Keeps answers in the database, sealed, since that of a created API key contains the key. An answer that was sealed
 * under a KEK that has left the ring since then is lost; its request is still not executed again.
 *
 * @throws Refusal `key_used_otherwise`, `key_in_use`, `answer_lost`, `too_many_answers`, `invalid_parameters` for an
 *   unusable key
 */
export async function executeOnce(
  { db, ring }: Services,
  { method }: Operation,
  { principal, target, body }: Call<Principal, unknown, unknown>,
  key: string,
  run: (within: Database) => Promise<Executed>,
): Promise<Executed> {
  if (!KEY.test(key)) {
    throw new Refusal('invalid_parameters', 'Idempotency-Key: expected 1 to 255 printable ASCII characters.');
  }
  const account = { organizationId: principal.account };
  const keyHash = sha256(key);
  const context = { table: 'idempotency_keys', column: 'sealed_answer', row: keyHash, ...account };
  const content = sha256(JSON.stringify([method, target, body]));
  const sealed = await once(db, account, keyHash, async (within) => {
    const { pieces, ...answer } = await run(within);
    const kept: Kept = { ...answer, content, body: Buffer.concat(pieces).toString() };
    return await seal(ring, Buffer.from(JSON.stringify(kept)), context);
  });
  const { status, headers, ...kept } = await openAnswer(ring, sealed, context);
  if (kept.content !== content) throw new Refusal('key_used_otherwise');
  return { status, headers, pieces: [Buffer.from(kept.body)] };
}

async function openAnswer(ring: KekRing, sealed: string, context: SealContext): Promise<Kept> {
  try {
    return JSON.parse(Buffer.from(await open(ring, sealed, context)).toString());
  } catch (error) {
    throw error instanceof SealingError ? new Refusal('answer_lost') : error;
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Any constant works if every version of this code uses the same one. */
const KEY_LOCK = 7_163_094_502_118_235n;
/** How many expired keys a request deletes, so that an account's keys do not accumulate. */
const DELETED_AT_ONCE = 100;
/** The maximum total size of the answers that are kept for one account. */
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

/** Last in the transaction, because the account's other requests with a key wait for its tally. */
async function keep(
  trx: Transaction<Schema>,
  organizationId: string,
  keyHash: string,
  sealed: string,
): Promise<void> {
  const { rows } = await sql<{ bytes: string }>`
    with expired as (
      select key_hash from idempotency_keys
      where organization_id = ${organizationId} and created_at <= now() - interval '24 hours'
      order by created_at limit ${DELETED_AT_ONCE} for update skip locked
    ), deleted as (
      delete from idempotency_keys
      where organization_id = ${organizationId} and key_hash = any (array(select key_hash from expired) || ${keyHash}::text)
      returning octet_length(sealed_answer) as bytes
    )
    insert into idempotency_tallies as t (organization_id, bytes)
    select ${organizationId}, octet_length(${sealed}) - coalesce(sum(bytes), 0) from deleted
    on conflict (organization_id) do update set bytes = t.bytes + excluded.bytes
    returning bytes`.execute(trx);
  if (Number(rows[0]?.bytes) > BYTES_MAX) throw new Refusal('too_many_answers');
  await sql`
    insert into idempotency_keys (organization_id, key_hash, sealed_answer)
    values (${organizationId}, ${keyHash}, ${sealed})`.execute(trx);
}
