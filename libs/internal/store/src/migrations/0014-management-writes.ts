import { type Kysely, sql } from 'kysely';

/**
 * What the management API writes besides guardrails: provider credentials, API keys, workspaces and memberships.
 *
 * Three restrictions hold below the service, whatever it asks for: it creates and changes ordinary API keys only, it
 * cannot let a workspace into the programme, and it cannot write another tenant's rows (the policies of tenancy).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A workspace that exists already, or that an older version creates, gets a random slug: names need not be unique.
  await sql`
    alter table workspaces
      add column slug text not null default 'ws-' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16)
        check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 100),
      add column description text check (char_length(description) <= 1000),
      add column created_by text references users (id) on delete set null,
      add column updated_at timestamptz(3)`.execute(db);
  await sql`
    alter table api_keys add column updated_at timestamptz(3), add column expires_at timestamptz(3)`.execute(
    db,
  );
  await sql`alter table users add column email text check (char_length(email) <= 320)`.execute(db);

  for (const [table, restriction] of [
    ['api_keys', `kind = 'api'`],
    ['workspaces', 'not in_programme and not is_default'],
  ] as const) {
    await sql`
      create policy ${sql.id(`${table}_insert`)} on ${sql.table(table)} as restrictive for insert to ori_management
      with check (${sql.raw(restriction)})`.execute(db);
  }
  for (const operation of ['update', 'delete']) {
    await sql`
      create policy ${sql.id(`api_keys_${operation}`)} on api_keys as restrictive for ${sql.raw(operation)}
      to ori_management using (kind = 'api')`.execute(db);
  }
}
