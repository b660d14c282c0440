import { type Kysely, sql } from 'kysely';

/** Turn limits of one organization, instead of those that the signer is configured with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table organizations
    add column turns_per_user integer check (turns_per_user between 1 and 1000000),
    add column turns_per_organization integer check (turns_per_organization between 1 and 10000000)`.execute(
    db,
  );
  await sql`create policy organizations_of_signer on organizations for select to ori_signer using (true)`.execute(
    db,
  );
}
