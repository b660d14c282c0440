import { type Kysely, sql } from 'kysely';

/** Provider credentials of organizations (BYOK). The key is stored only sealed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
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
    )`.execute(db);
  await sql`create index byok_credentials_order on byok_credentials (organization_id, sort_order, created_at, id)`.execute(
    db,
  );

  await sql`grant select on byok_credentials to ori_management`.execute(db);
  await sql`
    grant update (name, label, sealed_key, key_region, disabled, is_fallback, is_required, is_byok_only,
      allowed_api_key_hashes, allowed_models, allowed_user_ids, declared_region, declared_zdr)
    on byok_credentials to ori_management`.execute(db);
}
