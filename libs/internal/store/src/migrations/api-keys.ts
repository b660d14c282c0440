/** API keys, by the SHA-256 of the whole key. */
export const API_KEYS = `
create table api_keys (
  hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
  kind text not null check (kind in ('api', 'management')),
  name text not null,
  label text not null,
  organization_id text not null references organizations (id),
  workspace_id text,
  intern_id text,
  -- A key ends with the person to whom it belongs, and names the management key that created it.
  created_by text references users (id) on delete cascade,
  created_by_key text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3),
  expires_at timestamptz(3),
  disabled_at timestamptz(3),
  -- Marked by operators alone: management cannot undo what they disabled or removed, here and below.
  disabled_by_operator boolean not null default false
    constraint api_keys_operator check (disabled_at is not null or not disabled_by_operator),
  check ((kind = 'api') = (workspace_id is not null)),
  check (intern_id is null or workspace_id is not null),
  foreign key (organization_id, workspace_id) references workspaces (organization_id, id),
  foreign key (workspace_id, intern_id) references interns (workspace_id, id) on delete cascade
);
create index api_keys_organization on api_keys (organization_id);
create index api_keys_intern on api_keys (intern_id) where intern_id is not null;
-- The pages of a workspace's API keys.
create index api_keys_of_workspace on api_keys (workspace_id, created_at desc, hash);
-- Whether a workspace has a key that is accepted.
create index api_keys_accepted on api_keys (workspace_id, hash) where disabled_at is null;
-- The keys of a person, and those that a management key created.
create index api_keys_owner on api_keys (created_by) where created_by is not null;
create index api_keys_creator on api_keys (created_by_key) where created_by_key is not null;`;
