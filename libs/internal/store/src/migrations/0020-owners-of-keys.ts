import { type Kysely, sql } from 'kysely';

/**
 * Who ends what. A key ends with the person to whom it belongs, and names the management key that created it. What an
 * operator removed or disabled is marked; the management service cannot write the marks, so it cannot undo that.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_keys
      drop constraint api_keys_created_by_fkey,
      add constraint api_keys_created_by_fkey foreign key (created_by) references users (id) on delete cascade,
      add column created_by_key text,
      add column disabled_by_operator boolean not null default false,
      add constraint api_keys_operator check (disabled_at is not null or not disabled_by_operator)`.execute(
    db,
  );
  await sql`
    alter table members
      add column removed_by_operator boolean not null default false,
      add constraint members_operator check (removed_at is not null or not removed_by_operator)`.execute(db);
  await sql`
    alter table byok_credentials
      add column disabled_by_operator boolean not null default false,
      add constraint byok_credentials_operator check (disabled or not disabled_by_operator)`.execute(db);
}
