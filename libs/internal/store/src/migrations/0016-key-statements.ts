import { type Kysely, sql } from 'kysely';

/** The statement about a published key, by a role that the deployment's root delegated (ROOTED-KEY-SETS.md). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table signing_keys
    add column statement text check (statement ~ '^[A-Za-z0-9+/]{85}[AQgw]==$')`.execute(db);
}
