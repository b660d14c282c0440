import { type Kysely, sql } from 'kysely';

/** Ids are printed, put into paths and signed: those that SQL inserts have the form of those that we generate. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['organizations', 'workspaces', 'users', 'interns', 'signing_keys']) {
    await sql`
      alter table ${sql.table(table)}
      add constraint ${sql.ref(`${table}_id_form`)} check (id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$')`.execute(
      db,
    );
  }
}
