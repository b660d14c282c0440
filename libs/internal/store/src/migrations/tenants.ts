/**
 * Who there is: organizations, people, workspaces, members. A row below an organization contains its id and references
 * its parent by (organization_id, id): no row can belong to two organizations, and row-level security needs no join.
 */
export const TENANTS = `
create table organizations (
  id text primary key constraint organizations_id_form check (id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'),
  name text not null,
  turns_per_user integer check (turns_per_user between 1 and 1000000),
  turns_per_organization integer check (turns_per_organization between 1 and 10000000),
  created_at timestamptz(3) not null default now()
);

create table users (
  id text primary key constraint users_id_form check (id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'),
  name text not null,
  email text check (char_length(email) <= 320),
  created_at timestamptz(3) not null default now(),
  disabled_at timestamptz(3),
  sessions_valid_from bigint check (sessions_valid_from >= 0)
);
create unique index users_email on users (lower(email)) where email is not null;

create table user_subjects (
  issuer text not null,
  subject text not null,
  user_id text not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (issuer, subject)
);
create index user_subjects_user on user_subjects (user_id);

create table workspaces (
  id text primary key constraint workspaces_id_form check (id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$'),
  organization_id text not null references organizations (id),
  name text not null,
  is_default boolean not null default false,
  in_programme boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3),
  deleted_at timestamptz(3),
  slug text not null default 'ws-' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16)
    check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 100),
  description text check (char_length(description) <= 1000),
  created_by text references users (id) on delete set null,
  unique (organization_id, id)
);
create unique index workspaces_default on workspaces (organization_id) where is_default;
create unique index workspaces_slug on workspaces (organization_id, slug) where deleted_at is null;

create table members (
  workspace_id text not null,
  organization_id text not null,
  user_id text not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  removed_at timestamptz(3),
  removed_by_operator boolean not null default false
    constraint members_operator check (removed_at is not null or not removed_by_operator),
  primary key (workspace_id, user_id),
  foreign key (organization_id, workspace_id) references workspaces (organization_id, id)
);
create index members_user on members (user_id);
create index members_of_organization on members (organization_id, user_id);

create table switches (name text primary key, enabled boolean not null);
insert into switches (name, enabled) values ('lifecycle_writes', true);`;
