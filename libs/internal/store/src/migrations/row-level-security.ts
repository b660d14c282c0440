const ORGANIZATION = `organization_id = current_setting('ori.organization_id', true)`;
const PERSON = `(select s.user_id from user_subjects s
    where s.issuer = current_setting('ori.issuer', true) and s.subject = current_setting('ori.subject', true))`;

/** The rows of each table that management sees. */
const VISIBLE: Readonly<Record<string, string>> = {
  // The caller: the presented key or subject, and the rows that belong to it.
  api_keys: `${ORGANIZATION} or hash = current_setting('ori.api_key_hash', true)`,
  user_subjects: `issuer = current_setting('ori.issuer', true) and subject = current_setting('ori.subject', true)`,
  members: `${ORGANIZATION} or user_id = ${PERSON}`,
  users: `exists (select from members m where m.user_id = users.id offset 0)`,
  workspaces: `${ORGANIZATION}
    or id = (select k.workspace_id from api_keys k where k.hash = current_setting('ori.api_key_hash', true))
    or exists (select from members m where m.workspace_id = workspaces.id and m.user_id = ${PERSON} offset 0)`,
  organizations: `id = current_setting('ori.organization_id', true)`,

  // What the caller may see.
  interns: `workspace_id = any (string_to_array(current_setting('ori.workspace_ids', true), ','))
    and coalesce(nullif(current_setting('ori.intern_id', true), ''), id) = id`,
  intern_icons: `exists (select from interns i where i.id = intern_icons.intern_id offset 0)`,
  byok_credentials: ORGANIZATION,
  guardrails: ORGANIZATION,
  guardrail_key_assignments: ORGANIZATION,
  guardrail_member_assignments: ORGANIZATION,
  idempotency_keys: ORGANIZATION,
};

const OF_TENANT = Object.entries(VISIBLE).map(
  ([table, rows]) => `
alter table ${table} enable row level security;
create policy ${table}_of_tenant on ${table} to ori_management using (${rows}) with check (${rows});`,
);

const OF_SIGNER = 'organizations workspaces users user_subjects members interns api_keys'
  .split(' ')
  .map((table) => `\ncreate policy ${table}_of_signer on ${table} for select to ori_signer using (true);`);

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
export const ROW_LEVEL_SECURITY = `${OF_TENANT.join('')}
${OF_SIGNER.join('')}

create policy api_keys_insert on api_keys as restrictive for insert to ori_management with check (kind = 'api');
create policy api_keys_update on api_keys as restrictive for update to ori_management using (kind = 'api');
create policy api_keys_delete on api_keys as restrictive for delete to ori_management using (kind = 'api');
create policy workspaces_insert on workspaces as restrictive for insert to ori_management
  with check (not in_programme and not is_default);
`;
