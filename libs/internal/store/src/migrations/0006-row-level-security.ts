import { type Kysely, sql } from 'kysely';

/**
 * Tenancy, enforced by the database as well: the role of the management service sees only rows of the current tenant,
 * even if a query lacks the condition. Each transaction names its tenant in local settings (see `asTenant`); an unset
 * one matches nothing.
 *
 * The signer looks up single rows by key across all tenants, so its policies allow every row; its column grants limit
 * what it can read.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const organization = `organization_id = current_setting('ori.organization_id', true)`;
  const ownWorkspace = (column: string) =>
    `${column} = any (string_to_array(current_setting('ori.workspace_ids', true), ','))`;

  const visible: Record<string, string> = {
    // The caller: the presented key or subject, and the rows that belong to it.
    api_keys: `${organization} or hash = current_setting('ori.api_key_hash', true)`,
    user_subjects: `issuer = current_setting('ori.issuer', true) and subject = current_setting('ori.subject', true)`,
    members: `${organization} or user_id in (select user_id from user_subjects)`,
    users: `id in (select user_id from members)`,
    workspaces: `${organization}
      or id in (select workspace_id from members)
      or id in (select workspace_id from api_keys)`,
    organizations: `id = current_setting('ori.organization_id', true)`,

    // What the caller may see.
    interns: `${ownWorkspace('workspace_id')}
      and coalesce(nullif(current_setting('ori.intern_id', true), ''), id) = id`,
    intern_icons: `intern_id in (select id from interns)`,
    byok_credentials: organization,
    guardrails: organization,
    guardrail_key_assignments: organization,
    guardrail_member_assignments: organization,
  };

  for (const [table, rows] of Object.entries(visible)) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`
      create policy ${sql.id(`${table}_of_tenant`)} on ${sql.table(table)} to ori_management
      using (${sql.raw(rows)}) with check (${sql.raw(rows)})`.execute(db);
  }
  for (const table of ['workspaces', 'users', 'user_subjects', 'members', 'interns', 'api_keys']) {
    await sql`
      create policy ${sql.id(`${table}_of_signer`)} on ${sql.table(table)} for select to ori_signer
      using (true)`.execute(db);
  }
}
