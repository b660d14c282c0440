/** An organization's own keys at model providers, sealed to their row. */
export const CREDENTIALS = `
create table byok_credentials (
  id uuid primary key,
  organization_id text not null references organizations (id),
  workspace_id text,
  provider text not null,
  name text check (char_length(name) <= 255),
  label text not null,
  sealed_key text not null,
  key_region text,
  disabled boolean not null default false,
  disabled_by_operator boolean not null default false
    constraint byok_credentials_operator check (disabled or not disabled_by_operator),
  is_fallback boolean not null default false,
  is_required boolean not null default false,
  is_byok_only boolean not null default false,
  sort_order integer not null default 0,
  allowed_api_key_hashes text[],
  allowed_models text[],
  allowed_user_ids text[],
  declared_region text check (declared_region in ('global', 'europe', 'us')),
  declared_zdr boolean,
  created_at timestamptz(3) not null default now(),
  check (not (is_fallback and (is_required or is_byok_only))),
  foreign key (organization_id, workspace_id) references workspaces (organization_id, id)
);
create index byok_credentials_order on byok_credentials (organization_id, sort_order, created_at, id);`;
