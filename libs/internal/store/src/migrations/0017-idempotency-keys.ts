import { type Kysely, sql } from 'kysely';

/**
 * The answers to requests that carried an `Idempotency-Key`, written in the transaction of what the request did. The
 * answer is sealed, because that of a created API key contains the key. Not audited: what was done is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table idempotency_keys (
      organization_id text not null references organizations (id) on delete cascade,
      key_hash text not null check (key_hash ~ '^[0-9a-f]{64}$'),
      sealed_answer text not null,
      created_at timestamptz(3) not null default now(),
      primary key (organization_id, key_hash)
    )`.execute(db);
  await sql`create index idempotency_keys_oldest on idempotency_keys (organization_id, created_at)`.execute(
    db,
  );
  await sql`alter table idempotency_keys enable row level security`.execute(db);
  await sql`
    create policy idempotency_keys_of_tenant on idempotency_keys to ori_management
    using (organization_id = current_setting('ori.organization_id', true))
    with check (organization_id = current_setting('ori.organization_id', true))`.execute(db);
}
