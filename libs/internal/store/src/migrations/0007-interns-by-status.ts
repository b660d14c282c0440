import { type Kysely, sql } from 'kysely';

/** The order of the intern list within one status: a filtered page reads no intern with another status. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index interns_newest_by_status on interns (workspace_id, status, created_at desc, id desc)`.execute(
    db,
  );
}
