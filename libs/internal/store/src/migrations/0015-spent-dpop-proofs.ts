import { type Kysely, sql } from 'kysely';

/**
 * The DPoP proofs that management used, for all of its processes, and the epoch of this memory: a new one begins with each
 * start of the server and on each timeline, so that proofs from before a restore or a failover are not taken for new.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table spent_dpop_proofs (
      id text primary key check (length(id) = 43),
      spent_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`create index spent_dpop_proofs_by_time on spent_dpop_proofs (spent_at)`.execute(db);
  await sql`
    create table dpop_epoch (
      only_row boolean primary key default true check (only_row),
      server text not null,
      epoch text not null
    )`.execute(db);
}
