import { type Kysely, sql } from 'kysely';

/**
 * Tenants: organizations, their workspaces, users, memberships, and the operator's switches. A row below an
 * organization contains its id and references its parent by (organization_id, id): no row can belong to two
 * organizations, and row-level security needs no join.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table organizations (
      id text primary key,
      name text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db);

  await sql`
    create table workspaces (
      id text primary key,
      organization_id text not null references organizations (id),
      name text not null,
      is_default boolean not null default false,
      in_programme boolean not null default false,
      created_at timestamptz(3) not null default now(),
      deleted_at timestamptz(3),
      unique (organization_id, id)
    )`.execute(db);
  await sql`create unique index workspaces_default on workspaces (organization_id) where is_default`.execute(
    db,
  );

  await sql`
    create table users (
      id text primary key,
      name text not null,
      created_at timestamptz(3) not null default now(),
      disabled_at timestamptz(3)
    )`.execute(db);

  await sql`
    create table user_subjects (
      issuer text not null,
      subject text not null,
      user_id text not null references users (id) on delete cascade,
      created_at timestamptz(3) not null default now(),
      primary key (issuer, subject)
    )`.execute(db);
  await sql`create index user_subjects_user on user_subjects (user_id)`.execute(db);

  await sql`
    create table members (
      workspace_id text not null,
      organization_id text not null,
      user_id text not null references users (id) on delete cascade,
      created_at timestamptz(3) not null default now(),
      removed_at timestamptz(3),
      sessions_valid_from bigint check (sessions_valid_from >= 0),
      primary key (workspace_id, user_id),
      foreign key (organization_id, workspace_id) references workspaces (organization_id, id)
    )`.execute(db);
  await sql`create index members_user on members (user_id)`.execute(db);

  await sql`create table switches (name text primary key, enabled boolean not null)`.execute(db);
  await sql`insert into switches (name, enabled) values ('lifecycle_writes', true)`.execute(db);
}
