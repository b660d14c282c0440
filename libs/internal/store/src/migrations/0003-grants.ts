import { type Kysely, sql } from 'kysely';

/**
 * Read privileges of each service. The signer: only the columns that its queries name (no names, icons or
 * instructions). Management: everything except signing keys. Neither can write anything yet.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`revoke create on schema public from public`.execute(db);
  await sql`grant usage on schema public to ori_signer, ori_management`.execute(db);

  await sql`grant select (id, organization_id, in_programme, deleted_at) on workspaces to ori_signer`.execute(
    db,
  );
  await sql`grant select (id, disabled_at) on users to ori_signer`.execute(db);
  await sql`grant select (issuer, subject, user_id) on user_subjects to ori_signer`.execute(db);
  await sql`grant select (workspace_id, user_id, removed_at, sessions_valid_from) on members to ori_signer`.execute(
    db,
  );
  await sql`grant select (id, workspace_id) on interns to ori_signer`.execute(db);
  await sql`
    grant select (id, intern_id, kid, public_key, sealed_seed, not_before, expires_at, retired_at)
    on signing_keys to ori_signer`.execute(db);
  await sql`grant select (hash, kind, disabled_at) on api_keys to ori_signer`.execute(db);
  await sql`grant select on switches to ori_signer`.execute(db);

  await sql`
    grant select on organizations, workspaces, users, user_subjects, members, api_keys, interns, intern_icons, switches
    to ori_management`.execute(db);
}
