/** Guardrails, and the keys and members that they are assigned to. */
export const GUARDRAILS = `
create table guardrails (
  id uuid primary key,
  organization_id text not null,
  workspace_id text not null,
  name text not null check (char_length(name) between 1 and 200),
  description text check (char_length(description) <= 1000),
  allowed_models text[],
  allowed_providers text[],
  ignored_models text[],
  ignored_providers text[],
  enforce_zdr_anthropic boolean,
  enforce_zdr_google boolean,
  enforce_zdr_openai boolean,
  enforce_zdr_other boolean,
  limit_usd double precision check (limit_usd >= 0),
  reset_interval text check (reset_interval in ('daily', 'weekly', 'monthly')),
  include_byok_in_budgets boolean not null default false,
  content_filter_builtins jsonb,
  content_filters jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Bounds a page of them.
  constraint guardrails_size check (octet_length(jsonb_build_array(allowed_models, allowed_providers, ignored_models,
    ignored_providers, content_filter_builtins, content_filters)::text) <= 65536),
  unique (organization_id, id),
  foreign key (organization_id, workspace_id) references workspaces (organization_id, id)
);
create index guardrails_newest on guardrails (workspace_id, created_at desc, id);

create table guardrail_key_assignments (
  id uuid primary key,
  organization_id text not null,
  guardrail_id uuid not null,
  key_hash text not null references api_keys (hash) on delete cascade,
  assigned_by text references users (id) on delete set null,
  created_at timestamptz(3) not null default now(),
  unique (key_hash),
  foreign key (organization_id, guardrail_id) references guardrails (organization_id, id) on delete cascade
);
create index guardrail_key_assignments_newest
  on guardrail_key_assignments (organization_id, created_at desc, id);
-- A page of the assignments of one guardrail, wherever it is.
create index guardrail_key_assignments_page on guardrail_key_assignments (guardrail_id, created_at desc, id);

create table guardrail_member_assignments (
  id uuid primary key,
  organization_id text not null,
  guardrail_id uuid not null,
  user_id text not null references users (id) on delete cascade,
  assigned_by text references users (id) on delete set null,
  created_at timestamptz(3) not null default now(),
  unique (organization_id, user_id),
  foreign key (organization_id, guardrail_id) references guardrails (organization_id, id) on delete cascade
);
create index guardrail_member_assignments_newest
  on guardrail_member_assignments (organization_id, created_at desc, id);
create index guardrail_member_assignments_page on guardrail_member_assignments (guardrail_id, created_at desc, id);`;
