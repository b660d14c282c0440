import { type Kysely, sql } from 'kysely';

/** The signer regularly queries which keys expire soon; without this index it would read all of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index signing_keys_by_expiry on signing_keys (expires_at)
    where retired_at is null and expires_at is not null`.execute(db);
}
