import { type Kysely, sql } from 'kysely';

/**
 * Tenancy, enforced by the database as well: the role of the management service sees only rows of the current tenant,
 * even if a query lacks the condition. Each transaction names its tenant in local settings (see `asTenant`); an unset
 * one matches nothing.
 *
 * The signer looks up single rows by key across all tenants, so its policies allow every row; its column grants limit
 * what it can read.
 *
 * Three restrictions hold below management, whatever it asks for: it creates and changes ordinary API keys only, it cannot
 * let a workspace into the programme, and it cannot write another tenant's rows.
 */
export async function restrictRows(db: Kysely<unknown>): Promise<void> {
  const organization = `organization_id = current_setting('ori.organization_id', true)`;
  const ownWorkspace = (column: string) =>
    `${column} = any (string_to_array(current_setting('ori.workspace_ids', true), ','))`;
  const person = `(select s.user_id from user_subjects s
    where s.issuer = current_setting('ori.issuer', true) and s.subject = current_setting('ori.subject', true))`;

  const visible: Record<string, string> = {
    // The caller: the presented key or subject, and the rows that belong to it.
    api_keys: `${organization} or hash = current_setting('ori.api_key_hash', true)`,
    user_subjects: `issuer = current_setting('ori.issuer', true) and subject = current_setting('ori.subject', true)`,
    members: `${organization} or user_id = ${person}`,
    users: `exists (select from members m where m.user_id = users.id offset 0)`,
    workspaces: `${organization}
      or id = (select k.workspace_id from api_keys k where k.hash = current_setting('ori.api_key_hash', true))
      or exists (select from members m where m.workspace_id = workspaces.id and m.user_id = ${person} offset 0)`,
    organizations: `id = current_setting('ori.organization_id', true)`,

    // What the caller may see.
    interns: `${ownWorkspace('workspace_id')}
      and coalesce(nullif(current_setting('ori.intern_id', true), ''), id) = id`,
    intern_icons: `exists (select from interns i where i.id = intern_icons.intern_id offset 0)`,
    byok_credentials: organization,
    guardrails: organization,
    guardrail_key_assignments: organization,
    guardrail_member_assignments: organization,
    idempotency_keys: organization,
    idempotency_tallies: organization,
  };

  for (const [table, rows] of Object.entries(visible)) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`
      create policy ${sql.id(`${table}_of_tenant`)} on ${sql.table(table)} to ori_management
      using (${sql.raw(rows)}) with check (${sql.raw(rows)})`.execute(db);
  }
  for (const table of [
    'organizations',
    'workspaces',
    'users',
    'user_subjects',
    'members',
    'interns',
    'api_keys',
  ]) {
    await sql`
      create policy ${sql.id(`${table}_of_signer`)} on ${sql.table(table)} for select to ori_signer
      using (true)`.execute(db);
  }
  // Management reads its tallies; triggers write them.
  for (const table of ['guardrail_tallies', 'workspace_tallies']) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`
      create policy ${sql.id(`${table}_of_tenant`)} on ${sql.table(table)} for select to ori_management
      using (${sql.raw(organization)})`.execute(db);
  }
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
