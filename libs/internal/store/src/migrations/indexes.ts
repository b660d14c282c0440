import { setTimeout } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { StoreUnavailable } from '../store-unavailable.ts';
import { MigrationError } from './migration-error.ts';

/**
 * Indexes on tables that may already be large, by name. `migrate` builds them concurrently, because a migration that
 * creates one would block the services' writes. A changed definition needs a new name.
 */
export const INDEXES: Readonly<Record<string, string>> = {
  // Deleting an intern cascades to its keys; `signing-key list --intern` includes withdrawn ones.
  signing_keys_of_intern: 'signing_keys (intern_id)',
  // The pages of a workspace's API keys.
  api_keys_of_workspace: 'api_keys (workspace_id, created_at desc, hash)',
  // Whether a workspace has a key that is accepted.
  api_keys_accepted: 'api_keys (workspace_id, hash) where disabled_at is null',
  // The keys of a person, and those that a management key created.
  api_keys_owner: 'api_keys (created_by) where created_by is not null',
  api_keys_creator: 'api_keys (created_by_key) where created_by_key is not null',
  // One entry per KEK answers which KEKs are in use; see `keksInUse`.
  signing_keys_kek: 'signing_keys ((left(sealed_seed, 96))) where retired_at is null',
  members_of_organization: 'members (organization_id, user_id)',
  // A page of the assignments of one guardrail, wherever it is.
  guardrail_key_assignments_page: 'guardrail_key_assignments (guardrail_id, created_at desc, id)',
  guardrail_member_assignments_page: 'guardrail_member_assignments (guardrail_id, created_at desc, id)',
  workspaces_slug: 'workspaces (organization_id, slug) where deleted_at is null',
  users_email: 'users (lower(email)) where email is not null',
};

const UNIQUE: ReadonlySet<string> = new Set(['workspaces_slug', 'users_email']);

/** Indexes that others replaced; dropped when those are built. */
const REPLACED = ['guardrail_key_assignments_of', 'guardrail_member_assignments_of'];

/** Any constant works if every version of this code uses the same one, and no migration does. */
const LOCK_ID = 7_163_094_502_118_234n;
const LOCK_POLL_MS = 200;

/**
 * Builds missing indexes, and rebuilds those that an interrupted build left invalid. Reads and writes continue
 * during the build. PostgreSQL waits for transactions that began before the build, so one that is left open delays it.
 *
 * @returns the names of the indexes that were built
 * @throws MigrationError `index_failed`
 * @throws StoreUnavailable
 */
export async function buildIndexes(db: Kysely<Schema>): Promise<string[]> {
  return await db.connection().execute(async (session) => {
    // Polled, because a session that waits in a statement has a snapshot, for which the build would wait.
    while (!(await tryLock(session))) await setTimeout(LOCK_POLL_MS);
    try {
      const built: string[] = [];
      for (const [name, on] of Object.entries(INDEXES)) if (await build(session, name, on)) built.push(name);
      for (const name of REPLACED)
        await sql`drop index concurrently if exists public.${sql.id(name)}`.execute(session);
      return built;
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(LOCK_ID)})`.execute(session).catch(() => {});
    }
  });
}

async function tryLock(session: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_lock(${sql.lit(LOCK_ID)}) as taken`.execute(session);
  return rows[0]?.taken === true;
}

async function build(session: Kysely<Schema>, name: string, on: string): Promise<boolean> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${`public.${name}`})`.execute(
    session,
  );
  if (rows[0]?.valid) return false;
  try {
    await sql`drop index concurrently if exists public.${sql.id(name)}`.execute(session);
    await sql`create ${sql.raw(UNIQUE.has(name) ? 'unique index' : 'index')} concurrently if not exists ${sql.id(name)} on public.${sql.raw(on)}`.execute(
      session,
    );
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new MigrationError('index_failed', `index ${name} could not be built`, { cause: error });
  }
  return true;
}
