/** Interns, their icons, and the keys that sign for them. */
export const INTERNS = `
create table interns (
  id text primary key constraint interns_id_form check (id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'),
  organization_id text not null,
  workspace_id text not null,
  name text not null,
  description text,
  -- Of the form <intern name>.<domain>.
  hostname text constraint interns_hostname check (starts_with(hostname, lower(name) || '.')),
  model text,
  status text not null check (status in ('awaiting_slack_install', 'queued', 'provisioning', 'running',
    'failed', 'stopped', 'destroying', 'destroy_failed')),
  vault_id text,
  attached_vault_id text,
  instructions text,
  icon_sha256 text check (icon_sha256 ~ '^[0-9a-f]{64}$'),
  last_failure_message text,
  progress jsonb,
  created_by_user_id text references users (id) on delete set null,
  created_by_key_hash text,
  -- [{ "x", "statement"? }]: with these keys its daemon proves its answers.
  answer_keys jsonb check (jsonb_typeof(answer_keys) = 'array' and jsonb_array_length(answer_keys) between 1 and 2),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (workspace_id, id),
  foreign key (organization_id, workspace_id) references workspaces (organization_id, id)
);
create index interns_newest on interns (workspace_id, created_at desc, id desc);
create index interns_newest_by_status on interns (workspace_id, status, created_at desc, id desc);

create table intern_icons (
  intern_id text primary key references interns (id) on delete cascade,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  media_type text not null check (media_type in ('image/png', 'image/jpeg', 'image/webp')),
  bytes bytea not null
);

-- The interval is half-open, in Unix seconds: not_before <= timestamp < expires_at.
create table signing_keys (
  id text primary key constraint signing_keys_id_form check (id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'),
  intern_id text not null references interns (id) on delete cascade,
  kid text not null unique,
  public_key bytea not null check (octet_length(public_key) = 32),
  sealed_seed text not null,
  kek text not null,
  -- By a role that the deployment's root delegated (ROOTED-KEY-SETS.md).
  statement text check (statement ~ '^[A-Za-z0-9+/]{85}[AQgw]==$'),
  not_before bigint not null check (not_before >= 0),
  expires_at bigint check (expires_at > not_before),
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3)
);
create index signing_keys_of on signing_keys (intern_id, not_before desc) where retired_at is null;
create index signing_keys_by_expiry on signing_keys (expires_at)
  where retired_at is null and expires_at is not null;
-- Deleting an intern cascades to its keys; signing-key list --intern includes withdrawn ones.
create index signing_keys_of_intern on signing_keys (intern_id);
-- One entry per KEK answers which KEKs are in use; see signer-sql.ts.
create index signing_keys_kek on signing_keys (kek) where retired_at is null;`;
